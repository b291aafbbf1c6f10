//! What corrections would do to the tokens of the log.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use std::cell::OnceCell;

use super::difference::ResponseDifference;
use stapo_base::simd::{LANES, Work, sums_of_lanes, widest};
use stapo_base::stats::exact_sum::ExactSum;
use stapo_framework::corrections::{Correction, ResponseRatios};

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
            Correction::TokenTis(_) | Correction::TokenIcePop(..) if response.is_within(&rule) => {
                *response.untouched.get_or_init(|| response.weighed(|ratio| (ratio, true)))
            }
            Correction::TokenMis(..) if response.is_within(&rule) => response.weighed_by(1.0, true),
            // One loop for each, so that each becomes one of wide instructions.
            Correction::TokenTis(_) => response.weighed(move |ratio| rule.weight(ratio, ratios)),
            Correction::TokenIcePop(..) => response.weighed(move |ratio| rule.weight(ratio, ratios)),
            Correction::TokenMis(..) => response.weighed(move |ratio| rule.weight(ratio, ratios)),
            _ => {
                let (w, uncapped) = rule.weight(1.0, ratios);
                response.weighed_by(w, uncapped)
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
    /// Bounds of their ratios.
    pub range: [f64; 2],
    /// What their own ratios weigh: what most responses get of all rules that weigh tokens by them.
    pub untouched: OnceCell<Weighed>,
}

impl CorrectedResponse<'_> {
    /// Whether a rule of tokens, all of which keep what lies between two ratios that they keep, changes none.
    fn is_within(&self, rule: &Correction) -> bool {
        self.range.iter().all(|ratio| rule.weight(*ratio, self.ratios).1)
    }

    /// All tokens with one weight.
    fn weighed_by(&self, w: f64, uncapped: bool) -> Weighed {
        let tokens = self.ratio.len() as u64;
        Weighed {
            weight: tokens as f64 * w,
            square: tokens as f64 * w * w,
            energy: w * w * self.total_energy,
            dropped: if w == 0.0 { tokens } else { 0 },
            changed: if uncapped { 0 } else { tokens },
        }
    }

    fn weighed(&self, weight: impl Fn(f64) -> (f64, bool)) -> Weighed {
        widest(Weighing(self.ratio, self.energy, weight))
    }
}

/// What a rule makes of the tokens of one response.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weighed {
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
        let mut all = sums_of_lanes(&lanes);
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

    /// Bounds of the ratios, wide enough for any rounding.
    pub fn ratio_range(&self) -> [f64; 2] {
        const ROUNDING: f64 = 1e-9;
        [(self.min - ROUNDING).exp(), (self.max_abs + ROUNDING).exp()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_framework::corrections::DEFAULTS;

    /// Where the bounds of the ratios are not known, token by token.
    #[test]
    fn ratios_within_all_bounds_give_what_their_tokens_do() {
        let energy: Vec<f64> = (0..37).map(|i| f64::from(i % 5)).collect();
        for spread in [0.01, 0.6, 0.8, 1.7] {
            let ratio: Vec<f64> = (0..37).map(|i| (spread * (f64::from(i) / 18.0 - 1.0)).exp()).collect();
            let (ratios, total_energy) = (ResponseRatios::default(), energy.iter().sum());
            let of = |range: [f64; 2], rule: &Correction| {
                let untouched = OnceCell::new();
                let (ratio, energy) = (&ratio[..], &energy[..]);
                let response =
                    CorrectedResponse { ratios: &ratios, ratio, energy, total_energy, range, untouched };
                let mut tally = CorrectionTally::default();
                let changed = tally.add(rule, &response);
                (changed, tally.weight, tally.square, tally.energy, tally.dropped)
            };
            for rule in DEFAULTS.iter().filter(|rule| !rule.is_of_responses()) {
                let known = of([(-spread).exp(), spread.exp()], rule);
                assert_eq!(known, of([0.0, f64::INFINITY], rule), "{rule} {spread}");
                assert_eq!(known.0 == 0, spread < std::f64::consts::LN_2, "{rule} {spread}");
            }
        }
    }
}
