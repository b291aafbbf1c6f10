//! Dr. GRPO: advantages without the division by the group's spread, a constant denominator.

use super::clipped::{Clip, base, surrogate};
use super::{Mean, MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;

/// Advantages without the division by the group's spread, a constant denominator.
pub struct DrGrpo {
    /// Clipping.
    pub clip: Clip,
    /// Tokens of a response in the denominator.
    pub length: usize,
}

impl Objective for DrGrpo {
    fn rule(&self) -> Rule {
        Rule::DrGrpo
    }

    fn describe(&self) -> String {
        format!(
            "A = R − group mean, clipped surrogate ({}/{}), sum over responses × {}",
            self.clip.range.low, self.clip.range.high, self.length
        )
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let Some(centred) = batch.centred_reward else { return base(batch, self.clip) };
        let owner = batch.response_of_tokens();
        Weighed::all(batch, |t| surrogate(batch.ratio(t), f64::from(centred[owner[t]]), self.clip))
    }

    fn mean(&self, _batch: &MiniBatch<'_>) -> Mean {
        Mean::Constant(self.length)
    }
}
