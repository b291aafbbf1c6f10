//! GRPO: clipped surrogate, mean over responses of the mean over their tokens.

use super::clipped::{Clip, base};
use super::{Mean, MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;

/// Clipped surrogate, mean over responses of the mean over their tokens.
pub struct Grpo {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Grpo {
    fn rule(&self) -> Rule {
        Rule::Grpo
    }

    fn describe(&self) -> String {
        format!("clipped surrogate ({}/{}), mean over responses", self.clip.range.low, self.clip.range.high)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        base(batch, self.clip)
    }

    fn mean(&self, _batch: &MiniBatch<'_>) -> Mean {
        Mean::Sequence
    }
}
