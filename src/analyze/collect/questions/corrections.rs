//! What corrections would do to the tokens of the log.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use super::difference::ResponseDifference;
use crate::framework::corrections::{Correction, ResponseRatios};
use crate::simd::{LANES, Work, sum_of_lanes, widest};
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
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn call(self) -> Weighed {
        let Self(ratio, energy, weight) = self;
        let ((ratio, ratio_rest), (energy, energy_rest)) = (ratio.as_chunks(), energy.as_chunks());
        let mut lanes = [[0.0; LANES]; 5];
        for (ratio, energy) in ratio.iter().zip(energy) {
            add_weights(&mut lanes, ratio, energy, &weight);
        }
        let mut all = lanes.map(sum_of_lanes);
        for (ratio, energy) in ratio_rest.iter().zip(energy_rest) {
            all.iter_mut().zip(terms(*ratio, *energy, &weight)).for_each(|(sum, term)| *sum += term);
        }
        let [weight, square, energy, dropped, changed] = all;
        Weighed { weight, square, energy, dropped: dropped as u64, changed: changed as u64 }
    }
}

/// w', w'², w'²‖g‖², whether it is dropped and whether it is changed.
#[inline(always)]
fn terms<F: Fn(f64) -> (f64, bool)>(ratio: f64, energy: f64, weight: &F) -> [f64; 5] {
    let (w, uncapped) = weight(ratio);
    let is = |condition: bool| if condition { 1.0 } else { 0.0 };
    [w, w * w, w * w * energy, is(w == 0.0), is(!uncapped)]
}

#[inline(always)]
fn add_weights<F: Fn(f64) -> (f64, bool)>(
    lanes: &mut [[f64; LANES]; 5],
    ratio: &[f64; LANES],
    energy: &[f64; LANES],
    weight: &F,
) {
    for lane in 0..LANES {
        let terms = terms(ratio[lane], energy[lane], weight);
        for (sums, term) in lanes.iter_mut().zip(terms) {
            sums[lane] += term;
        }
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
