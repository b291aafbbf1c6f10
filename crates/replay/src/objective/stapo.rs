//! STAPO (arXiv 2602.15620): the base without the spurious tokens, over the tokens that are kept.

use super::clipped::{Clip, base};
use super::masks::S2tMask;
use super::words::masked_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;
use stapo_framework::s2t::S2tSettings;

/// The base without the spurious tokens, over the tokens that are kept.
pub struct Stapo {
    /// Clipping.
    pub clip: Clip,
    /// The mask.
    pub s2t: S2tSettings,
}

impl Objective for Stapo {
    fn rule(&self) -> Rule {
        Rule::Stapo
    }

    fn describe(&self) -> String {
        masked_base(Rule::Stapo, &self.s2t)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mask = S2tMask::of(batch, &self.s2t);
        let mut weighed = base(batch, self.clip).without(&mask.silenced);
        weighed.counts = mask.counts(mask.silenced.len());
        weighed
    }
}
