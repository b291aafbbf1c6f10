//! DAPO, the base of most rules: clip-higher surrogate, mean over tokens.

use super::clipped::{Clip, base};
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;

/// Clip-higher surrogate, mean over tokens.
pub struct Dapo {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Dapo {
    fn rule(&self) -> Rule {
        Rule::Dapo
    }

    fn describe(&self) -> String {
        format!("clipped surrogate ({}/{}), mean over tokens", self.clip.range.low, self.clip.range.high)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        base(batch, self.clip)
    }
}
