//! Sums of one step.

use super::Sum;
use super::finite::Faulty;
use super::gap::{Gap, GapSums};
use super::moved::Moved;
use super::token_loops::{CUT, trained};
use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, ExactSum, Max, Min};

/// A mean over tokens.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Distance {
    /// Tokens.
    pub tokens: u64,
    /// Their sum.
    pub sum: Sum,
    /// The sum of their squares, where it was taken.
    pub squares: Sum,
}

impl Distance {
    fn add(&mut self, tokens: u64, sum: f64) {
        self.tokens += tokens;
        self.sum.add(sum);
    }

    /// The root mean square; none without tokens.
    #[must_use]
    pub fn rms(&self) -> Option<f64> {
        (self.tokens > 0).then(|| (self.squares.value() / self.tokens as f64).max(0.0).sqrt())
    }

    /// The mean; none without tokens.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.tokens > 0).then(|| self.sum.value() / self.tokens as f64)
    }
}

/// Importance weights that were applied.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Weights {
    /// Trained tokens that have one.
    pub tokens: u64,
    /// Those whose weight is 0.
    pub zero: u64,
    /// Σw.
    pub sum: ExactSum,
    /// Σw².
    pub squares: ExactSum,
}

/// Sums over the responses of one step.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Step {
    /// Responses.
    pub responses: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Responses with a value that is not finite at a trained token.
    pub faulty: u64,
    /// The same or with a reward that is not.
    pub faulty_with_reward: u64,
    /// ln π_old − ln μ.
    pub gap: GapSums,
    /// |ln μ − ln π_ref|.
    pub sampler_to_reference: Distance,
    /// |ln π_old − ln π_ref|.
    pub trainer_to_reference: Distance,
    /// H.
    pub entropy: Distance,
    /// k3 of π_θ against π_old.
    pub k3: Distance,
    /// The largest |ln π_θ − ln π_old|.
    pub largest_move: Max<f64>,
    /// The largest |A|.
    pub largest_advantage: Max<f32>,
    /// The largest gradient norm.
    pub largest_norm: Max<f32>,
    /// Energy of tokens with A < 0 and a ratio above 10.
    pub far_energy: ExactSum,
    /// Energy of all.
    pub energy: ExactSum,
    /// Importance weights.
    pub weights: Weights,
    /// The oldest version of the sampler's weights.
    pub oldest: Min<i64>,
    /// The newest.
    pub newest: Max<i64>,
}

impl Step {
    pub(super) fn add(
        &mut self,
        response: &Response<'_>,
        faulty: &Faulty,
        gap: Option<&Gap>,
        moved: Option<&Moved>,
    ) {
        self.responses += 1;
        self.tokens += response.len() as u64;
        self.faulty += u64::from(faulty.first.is_some());
        self.faulty_with_reward += u64::from(faulty.first.is_some() || faulty.reward);
        if let Some(gap) = gap {
            self.gap.add(&gap.all());
            self.sampler_to_reference.add(gap.with_reference, gap.to_reference);
        }
        if let Some(moved) = moved.filter(|moved| moved.tokens > 0) {
            self.k3.add(moved.tokens, moved.k3);
            self.largest_move.add(moved.largest);
            self.far_energy.add(moved.far_energy);
            self.energy.add(moved.energy);
        }
        self.add_policy(response);
        self.add_training(response);
        response.version.into_iter().for_each(|version| {
            self.oldest.add(version);
            self.newest.add(version);
        });
    }

    /// Entropy, and the distance to the reference.
    fn add_policy(&mut self, response: &Response<'_>) {
        if let Some(entropy) = response.entropy {
            let (tokens, sum, _) = sum_finite(response, |t| f64::from(entropy[t]));
            self.entropy.add(tokens, sum);
        }
        if let Some(reference) = response.reference.filter(|_| !response.logprob.is_empty()) {
            let far = |t: usize| (f64::from(response.logprob[t]) - f64::from(reference[t])).abs().min(CUT);
            let (tokens, sum, squares) = sum_finite(response, far);
            self.trainer_to_reference.add(tokens, sum);
            self.trainer_to_reference.squares.add(squares);
        }
    }

    /// Advantages, gradient norms and weights.
    fn add_training(&mut self, response: &Response<'_>) {
        let largest =
            |values: &[f32]| values.iter().fold(f32::NAN, |largest, value| largest.max(value.abs()));
        match response.advantages {
            Some(advantages) => self.largest_advantage.add(largest(advantages)),
            None => response
                .advantage
                .into_iter()
                .for_each(|advantage| self.largest_advantage.add(advantage.abs())),
        }
        response.grad_norm.into_iter().for_each(|norms| self.largest_norm.add(largest(norms)));
        for weight in response.is_weight.into_iter().flat_map(|weights| trained(response).map(|t| weights[t]))
        {
            if weight.is_finite() {
                let weight = f64::from(weight);
                self.weights.tokens += 1;
                self.weights.zero += u64::from(weight == 0.0);
                self.weights.sum.add(weight);
                self.weights.squares.add(weight * weight);
            }
        }
    }
}

/// How many trained tokens have a finite value, its sum and that of its squares.
#[inline]
fn sum_finite(response: &Response<'_>, value: impl Fn(usize) -> f64) -> (u64, f64, f64) {
    let (mut tokens, mut sum, mut squares) = (0, 0.0, 0.0);
    for t in 0..response.len() {
        let value = value(t);
        let counts = response.is_trained(t) && value.is_finite();
        let value = if counts { value } else { 0.0 };
        tokens += u64::from(counts);
        sum += value;
        squares += value * value;
    }
    (tokens, sum, squares)
}
