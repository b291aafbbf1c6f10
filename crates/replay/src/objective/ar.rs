//! Advantage reweighting (arXiv 2505.12929): improbable tokens weigh less.

use super::clipped::{Clip, surrogate};
use super::words::on_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::{Rule, ar_factor};

/// Improbable tokens weigh less.
pub struct Ar {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Ar {
    fn rule(&self) -> Rule {
        Rule::Ar
    }

    fn describe(&self) -> String {
        on_base(Rule::Ar)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        Weighed::all(batch, |t| {
            let factor = ar_factor(f64::from(batch.old[t]).exp());
            surrogate(batch.ratio(t), factor * batch.advantage(t), self.clip)
        })
    }
}
