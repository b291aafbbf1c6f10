//! Surprisal beside entropy and beside the sampler's surprisal, at the same token and at its neighbours: columns that
//! are shifted against each other agree better one token aside.

use super::Sum;
use super::token_loops::{CUT, at};
use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;

/// Sums of pairs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Moments {
    /// Pairs.
    pub pairs: u64,
    sums: [Sum; 5],
}

impl Moments {
    fn add(&mut self, pairs: &[f64; 6]) {
        self.pairs += pairs[0] as u64;
        self.sums.iter_mut().zip(&pairs[1..]).for_each(|(sum, term)| sum.add(*term));
    }

    /// n, Σx, Σy, Σx², Σy², Σxy.
    #[must_use]
    pub fn values(&self) -> [f64; 6] {
        let [x, y, xx, yy, xy] = self.sums.map(Sum::value);
        [self.pairs as f64, x, y, xx, yy, xy]
    }
}

/// The trainer's surprisal of a token against another column one token before it, at it, one after it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Shifts {
    /// Entropy.
    pub entropy: [Moments; 3],
    /// The sampler's surprisal.
    pub rollout: [Moments; 3],
}

impl Shifts {
    pub(super) fn add(&mut self, response: &Response<'_>) {
        let columns =
            [(response.entropy, &mut self.entropy, 1.0), (response.rollout, &mut self.rollout, -1.0)];
        for (column, moments, sign) in columns {
            if column.is_none() {
                continue;
            }
            for (shift, moments) in moments.iter_mut().enumerate() {
                moments.add(&pairs(response, column, sign, shift));
            }
        }
    }
}

/// Sums over tokens whose neighbours are trained on, too, so that all three are of the same tokens.
fn pairs(response: &Response<'_>, column: Option<&[f32]>, sign: f64, shift: usize) -> [f64; 6] {
    let mut sums = [0.0; 6];
    for t in 1..response.len().saturating_sub(1) {
        if !(t - 1..=t + 1).all(|t| response.is_trained(t)) {
            continue;
        }
        // Cut, so that a few impossible tokens do not make the correlation.
        let x = (-f64::from(response.logprob[t])).min(2.0 * CUT);
        let y = (sign * at(column, t + shift - 1)).min(2.0 * CUT);
        if x.is_finite() && y.is_finite() {
            [1.0, x, y, x * x, y * y, x * y].iter().zip(&mut sums).for_each(|(term, sum)| *sum += term);
        }
    }
    sums
}
