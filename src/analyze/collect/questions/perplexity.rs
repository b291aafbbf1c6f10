//! Perplexities of trainer and sampler on the same responses.

use super::difference::TokenDifferences;
use crate::simd;
use crate::stats::exact_sum::ExactSum;
use crate::stats::log_sum::LogSum;

/// Perplexities summed over responses.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PerplexityTally {
    /// Responses.
    pub responses: u64,
    /// Σ exp(−mean ln π_old) and Σ exp(−mean ln μ).
    pub of: [LogSum; 2],
    /// Σ −mean ln π_old and Σ −mean ln μ.
    pub log: [ExactSum; 2],
    /// Σ of the ratio of the two.
    pub ratio: LogSum,
    /// Σ |difference of the logarithms|.
    pub absolute: ExactSum,
    /// Largest and smallest difference of the logarithms.
    pub range: [f64; 2],
}

impl Default for PerplexityTally {
    fn default() -> Self {
        Self {
            responses: 0,
            of: Default::default(),
            log: Default::default(),
            ratio: LogSum::default(),
            absolute: ExactSum::new(),
            range: [f64::NEG_INFINITY, f64::INFINITY],
        }
    }
}

impl PerplexityTally {
    /// Adds a response whose engine differences are `differences`.
    pub fn add(&mut self, trainer: &[f32], sampler: &[f32], differences: &TokenDifferences) {
        let tokens = differences.value.len();
        if tokens == 0 {
            return;
        }
        let mean = |of: &[f32]| {
            let sum: f64 = match &differences.tokens {
                None => simd::sum(of),
                Some(known) => known.iter().map(|t| f64::from(of[*t as usize])).sum(),
            };
            -sum / tokens as f64
        };
        let logs = [mean(trainer), mean(sampler)];
        self.responses += 1;
        for (i, log) in logs.into_iter().enumerate() {
            self.of[i].add_exp(log);
            self.log[i].add(log);
        }
        let difference = logs[0] - logs[1];
        self.ratio.add_exp(difference);
        self.absolute.add(difference.abs());
        self.range = [self.range[0].max(difference), self.range[1].min(difference)];
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        for i in 0..2 {
            self.of[i].merge(&other.of[i]);
            self.log[i].merge(&other.log[i]);
        }
        self.ratio.merge(&other.ratio);
        self.absolute.merge(&other.absolute);
        self.range = [self.range[0].max(other.range[0]), self.range[1].min(other.range[1])];
    }
}
