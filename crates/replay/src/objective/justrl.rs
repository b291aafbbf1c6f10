//! JustRL: the base with a dual clip, which bounds the loss of tokens with A < 0.

use super::clipped::{Clip, base};
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;
use stapo_framework::token::ClipRange;

/// DAPO with a dual clip.
pub struct JustRl {
    /// Clipping of the ratio.
    pub range: ClipRange,
    /// c: ℓ ≤ −cA where A < 0.
    pub dual_clip: f64,
}

impl Objective for JustRl {
    fn rule(&self) -> Rule {
        Rule::JustRl
    }

    fn describe(&self) -> String {
        format!("dapo, and where A < 0 the loss is at most −{}·A (dual clip)", self.dual_clip)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        base(batch, Clip { range: self.range, dual: Some(self.dual_clip) })
    }
}
