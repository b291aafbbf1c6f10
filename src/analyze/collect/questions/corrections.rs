//! What corrections would do to the tokens of the log.

use super::difference::{ResponseDifference, TokenDifferences};
use crate::framework::corrections::{Correction, ResponseRatios};
use crate::stats::exact_sum::ExactSum;

/// What one correction does. Parts merge in any order to the same bits.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct CorrectionTally {
    /// Σ w'.
    pub weight: ExactSum,
    /// Σ w'².
    pub square: ExactSum,
    /// Tokens with w' = 0.
    pub dropped: u64,
    /// Tokens whose w' is not the uncapped one.
    pub changed: u64,
    /// Responses all of whose tokens have w' = 0.
    pub dropped_responses: u64,
    /// Σ w'²‖g‖².
    pub energy: ExactSum,
}

impl CorrectionTally {
    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.weight.merge(&other.weight);
        self.square.merge(&other.square);
        self.dropped += other.dropped;
        self.changed += other.changed;
        self.dropped_responses += other.dropped_responses;
        self.energy.merge(&other.energy);
    }

    /// Adds a response; `energy` is ‖g‖² of its trained tokens.
    pub fn add(
        &mut self,
        rule: &Correction,
        response: &ResponseRatios,
        differences: &TokenDifferences,
        energy: &[f64],
    ) {
        let tokens = differences.value.len() as u64;
        if tokens == 0 {
            return;
        }
        let (mut weight, mut square, mut kept) = (0.0, 0.0, 0.0);
        let (mut dropped, mut changed) = (0, 0);
        if rule.is_of_responses() {
            let (w, uncapped) = rule.weight(1.0, response);
            (weight, square) = (tokens as f64 * w, tokens as f64 * w * w);
            dropped = if w == 0.0 { tokens } else { 0 };
            changed = if uncapped { 0 } else { tokens };
            let all = (0..differences.value.len()).map(|i| energy[differences.token(i)]);
            kept = w * w * all.sum::<f64>();
        } else {
            for (i, ratio) in differences.ratio.iter().enumerate() {
                let (w, uncapped) = rule.weight(*ratio, response);
                weight += w;
                square += w * w;
                kept += w * w * energy[differences.token(i)];
                dropped += u64::from(w == 0.0);
                changed += u64::from(!uncapped);
            }
        }
        self.weight.add(weight);
        self.square.add(square);
        self.energy.add(kept);
        self.dropped += dropped;
        self.changed += changed;
        self.dropped_responses += u64::from(dropped == tokens);
    }
}

impl ResponseDifference {
    /// What corrections look at.
    pub fn ratios(&self, differences: &TokenDifferences) -> ResponseRatios {
        ResponseRatios {
            tokens: self.tokens,
            sum: self.sum,
            k3: self.k3,
            largest_k3: differences.k3.iter().copied().fold(0.0, f64::max),
            smallest: self.min,
        }
    }
}
