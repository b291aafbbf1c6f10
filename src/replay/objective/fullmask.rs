//! FullMask: the base without any candidate, spurious or exploratory.

use super::clipped::base;
use super::masks::S2tMask;
use super::{MiniBatch, Objective, Weighed};
use crate::framework::s2t::S2tSettings;
use crate::framework::token::ClipRange;

/// See the module.
pub struct FullMask {
    /// Clipping.
    pub clip: ClipRange,
    /// Defines the candidates.
    pub s2t: S2tSettings,
}

impl Objective for FullMask {
    fn name(&self) -> &'static str {
        "fullmask"
    }

    fn rule(&self) -> String {
        format!("dapo without all candidates (A > 0, p < {})", self.s2t.tau_p)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mask = S2tMask::of(batch, &self.s2t);
        let mut weighed = base(batch, self.clip).without(&mask.candidates);
        weighed.counts = mask.counts(mask.candidates.len());
        weighed.counts.tau_h = None;
        weighed
    }
}
