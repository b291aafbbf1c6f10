//! SAPO: a sigmoid of the ratio in place of a hard clip.

use super::{Mean, MiniBatch, Objective, Term, Weighed};
use stapo_framework::rules::{Rule, SAPO_TEMPERATURES, sapo_gate};

/// A sigmoid of the ratio in place of a hard clip.
pub struct Sapo;

impl Objective for Sapo {
    fn rule(&self) -> Rule {
        Rule::Sapo
    }

    fn describe(&self) -> String {
        format!(
            "ℓ = −(4/τ)·sigmoid(τ(ρ−1))·A, τ {} for A > 0 and {} else, mean over responses",
            SAPO_TEMPERATURES.0, SAPO_TEMPERATURES.1
        )
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        Weighed::all(batch, |t| {
            let (ratio, advantage) = (batch.ratio(t), batch.advantage(t));
            let (gate, temperature) = sapo_gate(ratio, advantage);
            Term {
                loss: -4.0 / temperature * gate * advantage,
                slope: -4.0 * gate * (1.0 - gate) * ratio * advantage,
                clipped: false,
            }
        })
    }

    fn mean(&self, _batch: &MiniBatch<'_>) -> Mean {
        Mean::Sequence
    }
}
