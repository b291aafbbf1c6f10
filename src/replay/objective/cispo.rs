//! CISPO: the capped ratio is a weight without gradient, so no token loses its own.

use super::{MiniBatch, Objective, Term, Weighed};
use crate::framework::rules::CISPO_CAP;

/// See the module.
pub struct Cispo;

impl Objective for Cispo {
    fn name(&self) -> &'static str {
        "cispo"
    }

    fn rule(&self) -> String {
        format!("ℓ = −min(ρ, {CISPO_CAP})·A·ln π with the ratio as a constant, mean over tokens")
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        Weighed::all(batch, |t| {
            let ratio = batch.ratio(t);
            let slope = -ratio.clamp(0.0, CISPO_CAP) * batch.advantage(t);
            Term { loss: slope * f64::from(batch.logprob[t]), slope, clipped: ratio > CISPO_CAP }
        })
    }
}
