//! FullMask: the base without any candidate, spurious or exploratory.

use super::clipped::{Clip, base};
use super::masks::S2tMask;
use super::words::masked_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;
use stapo_framework::s2t::S2tSettings;

/// The base without any candidate, spurious or exploratory.
pub struct FullMask {
    /// Clipping.
    pub clip: Clip,
    /// Defines the candidates.
    pub s2t: S2tSettings,
}

impl Objective for FullMask {
    fn rule(&self) -> Rule {
        Rule::FullMask
    }

    fn describe(&self) -> String {
        masked_base(Rule::FullMask, &self.s2t)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mask = S2tMask::of(batch, &self.s2t);
        let mut weighed = base(batch, self.clip).without(&mask.candidates);
        weighed.counts = mask.counts(mask.candidates.len());
        weighed.counts.tau_h = None;
        weighed
    }
}
