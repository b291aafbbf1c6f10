//! One difference of log-probabilities summed over many responses.

use super::difference::{LARGEST_SQUARED, ResponseDifference, TokenDifferences, VERL_BOUND};
use super::kept_differences::KeptDifferences;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_base::stats::log_sum::{LogSum, Power};

/// A difference summed over responses. Parts merge in any order to the same bits.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct DifferenceTally {
    /// Tokens.
    pub tokens: u64,
    /// Responses with at least one of them.
    pub responses: u64,
    /// Σ d.
    pub sum: ExactSum,
    /// Σ |d|.
    pub absolute: ExactSum,
    /// Σ d².
    pub square: ExactSum,
    /// Σ (e^d − 1 − d).
    pub k3: LogSum,
    /// The same of d cut at ± ln 10.
    pub bounded_k3: ExactSum,
    /// Σ e^d.
    pub ratio: LogSum,
    /// Σ e^{2d}.
    pub ratio_squared: LogSum,
    /// The same of d within ±20.
    pub verl_ratio_squared: LogSum,
    /// Tokens outside each of the [`BANDS`](super::difference::BANDS).
    pub outside: [u64; 3],
    /// Tokens with a ratio beyond e^20.
    pub beyond: u64,
    /// Largest |d|.
    pub max_abs: f64,
    /// Σ e^s over responses.
    pub sequence: LogSum,
    /// Σ e^{2s}.
    pub sequence_squared: LogSum,
    /// The same of s within ±20.
    pub verl_sequence_squared: LogSum,
    /// Σ e^{s/T}.
    pub geometric: LogSum,
    /// The differences themselves while they are few, else how they spread.
    pub kept: KeptDifferences,
}

impl DifferenceTally {
    /// Adds a response and, for quantiles, the differences of its tokens.
    pub fn add(&mut self, response: &ResponseDifference, tokens: &TokenDifferences, keeps: bool) {
        if response.tokens == 0 {
            return;
        }
        self.tokens += response.tokens;
        self.responses += 1;
        self.sum.add(response.sum);
        self.absolute.add(response.absolute);
        self.square.add(response.square);
        self.bounded_k3.add(response.bounded_k3);
        if response.is_huge() {
            for (d, k3) in tokens.value.iter().zip(&tokens.k3) {
                // e^d dwarfs 1 + d there.
                if *d > LARGEST_SQUARED {
                    self.k3.add_exp(*d)
                } else {
                    self.k3.add(*k3)
                }
                self.ratio.add_exp(*d);
                self.ratio_squared.add_exp(2.0 * d);
            }
        } else {
            self.k3.add(response.k3);
            self.ratio.add(response.ratio);
            self.ratio_squared.add(response.ratio_squared);
        }
        self.verl_ratio_squared.add(response.verl_ratio_squared);
        self.outside.iter_mut().zip(response.outside).for_each(|(a, b)| *a += b);
        self.beyond += response.beyond;
        self.max_abs = self.max_abs.max(response.max_abs);
        self.sequence.add_exp(response.sum);
        let squared = Power::of(2.0 * response.sum);
        self.sequence_squared.add_power(squared);
        self.verl_sequence_squared.add_power(match response.sum.abs() <= VERL_BOUND {
            true => squared,
            false => Power::of(2.0 * response.sum.clamp(-VERL_BOUND, VERL_BOUND)),
        });
        self.geometric.add_exp(response.mean());
        self.kept.add(&tokens.value, keeps);
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.responses += other.responses;
        self.sum.merge(&other.sum);
        self.absolute.merge(&other.absolute);
        self.square.merge(&other.square);
        self.bounded_k3.merge(&other.bounded_k3);
        self.k3.merge(&other.k3);
        self.ratio.merge(&other.ratio);
        self.ratio_squared.merge(&other.ratio_squared);
        self.verl_ratio_squared.merge(&other.verl_ratio_squared);
        self.outside.iter_mut().zip(other.outside).for_each(|(a, b)| *a += b);
        self.beyond += other.beyond;
        self.max_abs = self.max_abs.max(other.max_abs);
        self.sequence.merge(&other.sequence);
        self.sequence_squared.merge(&other.sequence_squared);
        self.verl_sequence_squared.merge(&other.verl_sequence_squared);
        self.geometric.merge(&other.geometric);
        self.kept.merge(&other.kept);
    }
}
