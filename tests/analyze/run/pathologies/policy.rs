//! Categorical distributions whose p, H and Σπ² are exact.

use stapo_analyze::stats::random::Random;

/// A categorical distribution.
#[derive(Clone)]
pub struct Policy(pub Vec<f64>);

impl Policy {
    pub fn draw(random: &mut Random, vocabulary: usize) -> Self {
        let sharpness = 1.0 + 3.0 * random.unit();
        Self::normalised((0..vocabulary).map(|_| (sharpness * random.normal()).exp()).collect())
    }

    fn normalised(mut weights: Vec<f64>) -> Self {
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w = (*w / sum).max(1e-30));
        Self(weights)
    }

    pub fn at_temperature(&self, t: f64) -> Self {
        Self::normalised(self.0.iter().map(|p| p.powf(1.0 / t)).collect())
    }

    pub fn top_p(&self, mass: f64) -> Self {
        let mut sorted = self.0.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let mut sum = 0.0;
        let last = sorted.iter().find(|p| {
            sum += **p;
            sum >= mass
        });
        let cut = last.copied().unwrap_or(0.0);
        let sum: f64 = self.0.iter().filter(|p| **p >= cut).sum();
        Self(self.0.iter().map(|p| if *p >= cut { p / sum } else { 0.0 }).collect())
    }

    pub fn moved(&self, random: &mut Random, by: f64) -> Self {
        Self::normalised(self.0.iter().map(|p| p * (by * random.normal()).exp()).collect())
    }

    pub fn sample(&self, random: &mut Random) -> usize {
        let mut left = random.unit();
        let found = self.0.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        found.unwrap_or(0)
    }

    pub fn rarest(&self) -> usize {
        (0..self.0.len()).min_by(|a, b| self.0[*a].total_cmp(&self.0[*b])).unwrap_or(0)
    }

    pub fn entropy(&self) -> f64 {
        self.0.iter().map(|p| -p * p.ln()).sum()
    }

    pub fn collision(&self) -> f64 {
        self.0.iter().map(|p| p * p).sum()
    }
}

/// A state: the trainer's policy, the sampler's with the present weights and with old ones.
pub struct State {
    pub policy: Policy,
    pub sampler: Policy,
    pub old: Policy,
    pub entropy: f64,
    pub collision: f64,
}
