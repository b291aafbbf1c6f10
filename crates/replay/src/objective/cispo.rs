//! CISPO: the capped ratio is a weight without gradient, so no token loses its own.

use super::{MiniBatch, Objective, Term, Weighed};
use stapo_framework::rules::{CISPO_CAP, Rule, cispo_weight};

/// The capped ratio is a weight without gradient, so no token loses its own.
pub struct Cispo;

impl Objective for Cispo {
    fn rule(&self) -> Rule {
        Rule::Cispo
    }

    fn describe(&self) -> String {
        format!("ℓ = −min(ρ, {CISPO_CAP})·A·ln π with the ratio as a constant, mean over tokens")
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        Weighed::all(batch, |t| {
            let ratio = batch.ratio(t);
            let slope = -cispo_weight(ratio) * batch.advantage(t);
            Term { loss: slope * f64::from(batch.logprob[t]), slope, clipped: ratio > CISPO_CAP }
        })
    }
}
