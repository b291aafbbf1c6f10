//! STAPO (arXiv 2602.15620): the base without the spurious tokens, over the tokens that are kept.

use super::clipped::base;
use super::masks::S2tMask;
use super::{MiniBatch, Objective, Weighed};
use crate::framework::s2t::S2tSettings;
use crate::framework::token::ClipRange;

/// See the module.
pub struct Stapo {
    /// Clipping.
    pub clip: ClipRange,
    /// The mask.
    pub s2t: S2tSettings,
}

impl Objective for Stapo {
    fn name(&self) -> &'static str {
        "stapo"
    }

    fn rule(&self) -> String {
        format!("dapo without the S2T tokens (A > 0, p < {}, H < τ_h)", self.s2t.tau_p)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mask = S2tMask::of(batch, &self.s2t);
        let mut weighed = base(batch, self.clip).without(&mask.silenced);
        weighed.counts = mask.counts(mask.silenced.len());
        weighed
    }
}
