//! Advantage reweighting (arXiv 2505.12929): improbable tokens weigh less.

use super::clipped::surrogate;
use super::{MiniBatch, Objective, Weighed};
use crate::framework::rules::{AR_ALPHA, ar_factor};
use crate::framework::token::ClipRange;

/// See the module.
pub struct Ar {
    /// Clipping.
    pub clip: ClipRange,
}

impl Objective for Ar {
    fn name(&self) -> &'static str {
        "ar"
    }

    fn rule(&self) -> String {
        format!("dapo with A multiplied by {AR_ALPHA}·p_old + {}", 1.0 - AR_ALPHA)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        Weighed::all(batch, |t| {
            let factor = ar_factor(f64::from(batch.old[t]).exp());
            surrogate(batch.ratio(t), factor * batch.advantage(t), self.clip)
        })
    }
}
