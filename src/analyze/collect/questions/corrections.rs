//! What corrections would do to the tokens of the log.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use super::difference::ResponseDifference;
use crate::framework::corrections::{Correction, ResponseRatios};
use crate::simd::{Work, count, sum_in_lanes, widest};
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

    /// Adds a response; returns how many of its tokens do not have the uncapped weight.
    pub fn add(&mut self, rule: &Correction, response: &CorrectedResponse<'_>) -> u64 {
        let tokens = response.ratio.len() as u64;
        if tokens == 0 {
            return 0;
        }
        let (rule, ratios) = (*rule, response.ratios);
        let weighed = match rule {
            // One loop for each, so that each becomes one of wide instructions.
            Correction::TokenTis(_) => response.weighed(move |ratio| rule.weight(ratio, ratios)),
            Correction::TokenIcePop(..) => response.weighed(move |ratio| rule.weight(ratio, ratios)),
            Correction::TokenMis(..) => response.weighed(move |ratio| rule.weight(ratio, ratios)),
            _ => {
                let (w, uncapped) = rule.weight(1.0, ratios);
                Weighed {
                    weight: tokens as f64 * w,
                    square: tokens as f64 * w * w,
                    energy: w * w * response.total_energy,
                    dropped: if w == 0.0 { tokens } else { 0 },
                    changed: if uncapped { 0 } else { tokens },
                }
            }
        };
        self.weight.add(weighed.weight);
        self.square.add(weighed.square);
        self.energy.add(weighed.energy);
        self.dropped += weighed.dropped;
        self.changed += weighed.changed;
        self.dropped_responses += u64::from(weighed.dropped == tokens);
        weighed.changed
    }
}

/// A response that is to be corrected.
pub struct CorrectedResponse<'a> {
    /// What rules of responses look at.
    pub ratios: &'a ResponseRatios,
    /// e^d of the tokens with a difference.
    pub ratio: &'a [f64],
    /// ‖g‖² of the same tokens.
    pub energy: &'a [f64],
    /// Their sum.
    pub total_energy: f64,
}

impl CorrectedResponse<'_> {
    fn weighed(&self, weight: impl Fn(f64) -> (f64, bool)) -> Weighed {
        widest(Weighing(self.ratio, self.energy, weight))
    }
}

/// Tokens whose weights are laid out side by side at a time.
const BLOCK: usize = 128;

/// What a rule makes of the tokens of one response.
#[derive(Default)]
struct Weighed {
    weight: f64,
    square: f64,
    energy: f64,
    dropped: u64,
    changed: u64,
}

struct Weighing<'a, F>(&'a [f64], &'a [f64], F);

impl<F: Fn(f64) -> (f64, bool)> Work for Weighing<'_, F> {
    type Output = Weighed;

    #[inline(always)]
    fn call(self) -> Weighed {
        let Self(ratio, energy, weight) = self;
        let n = ratio.len();
        let energy = &energy[..n];
        // The rule in one place, so that it is inlined; then a pass for each sum: one loop with all of
        // them does not become wide.
        let mut all = Weighed::default();
        for first in (0..n).step_by(BLOCK) {
            let end = n.min(first + BLOCK);
            let (ratio, energy) = (&ratio[first..end], &energy[first..end]);
            let (mut weights, mut capped) = ([0.0; BLOCK], [0.0; BLOCK]);
            for i in 0..ratio.len() {
                let (w, uncapped) = weight(ratio[i]);
                weights[i] = w;
                capped[i] = if uncapped { 0.0 } else { 1.0 };
            }
            let n = ratio.len();
            all.weight += sum_in_lanes(n, |i| weights[i]);
            all.square += sum_in_lanes(n, |i| weights[i] * weights[i]);
            all.energy += sum_in_lanes(n, |i| weights[i] * weights[i] * energy[i]);
            all.dropped += count(n, |i| weights[i] == 0.0);
            all.changed += count(n, |i| capped[i] != 0.0);
        }
        all
    }
}

impl ResponseDifference {
    /// What corrections look at.
    pub fn ratios(&self) -> ResponseRatios {
        ResponseRatios {
            tokens: self.tokens,
            sum: self.sum,
            k3: self.k3,
            largest_k3: self.largest_k3,
            smallest: self.min,
        }
    }
}
