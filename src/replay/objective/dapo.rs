//! DAPO, the base of most rules: clip-higher surrogate, mean over tokens.

use super::clipped::base;
use super::{MiniBatch, Objective, Weighed};
use crate::framework::rules::Rule;
use crate::framework::token::ClipRange;

/// See the module.
pub struct Dapo {
    /// Clipping.
    pub clip: ClipRange,
}

impl Objective for Dapo {
    fn rule(&self) -> Rule {
        Rule::Dapo
    }

    fn describe(&self) -> String {
        format!("clipped surrogate ({}/{}), mean over tokens", self.clip.low, self.clip.high)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        base(batch, self.clip)
    }
}
