//! GRPO: clipped surrogate, mean over responses of the mean over their tokens.

use super::clipped::base;
use super::{Mean, MiniBatch, Objective, Weighed};
use crate::framework::rules::Rule;
use crate::framework::token::ClipRange;

/// See the module.
pub struct Grpo {
    /// Clipping.
    pub clip: ClipRange,
}

impl Objective for Grpo {
    fn rule(&self) -> Rule {
        Rule::Grpo
    }

    fn describe(&self) -> String {
        format!("clipped surrogate ({}/{}), mean over responses", self.clip.low, self.clip.high)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        base(batch, self.clip)
    }

    fn mean(&self, _batch: &MiniBatch<'_>) -> Mean {
        Mean::Sequence
    }
}
