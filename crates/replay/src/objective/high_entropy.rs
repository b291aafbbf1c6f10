//! The paper's ablation: the candidates of the highest entropy instead of the lowest.

use super::clipped::{Clip, base};
use super::masks::S2tMask;
use super::words::on_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::{Rule, largest};
use stapo_framework::s2t::S2tSettings;

/// The candidates of the highest entropy instead of the lowest.
pub struct HighEntropy {
    /// Clipping.
    pub clip: Clip,
    /// Defines candidates and how many.
    pub s2t: S2tSettings,
}

impl Objective for HighEntropy {
    fn rule(&self) -> Rule {
        Rule::HighEntropy
    }

    fn describe(&self) -> String {
        on_base(Rule::HighEntropy)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mask = S2tMask::of(batch, &self.s2t);
        let entropy = |t: usize| f64::from(batch.entropy[t]);
        let chosen = largest(mask.candidates.iter().copied(), mask.silenced.len(), entropy);
        let mut weighed = base(batch, self.clip).without(&chosen);
        weighed.counts = mask.counts(chosen.len());
        weighed
    }
}
