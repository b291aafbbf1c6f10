//! The paper's ablation: every improbable token, whatever its advantage and entropy.

use super::clipped::{Clip, base};
use super::words::masked_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;
use stapo_framework::s2t::S2tSettings;

/// Every improbable token, whatever its advantage and entropy.
pub struct LowProbOnly {
    /// Clipping.
    pub clip: Clip,
    /// Defines τ_p.
    pub s2t: S2tSettings,
}

impl Objective for LowProbOnly {
    fn rule(&self) -> Rule {
        Rule::LowProbOnly
    }

    fn describe(&self) -> String {
        masked_base(Rule::LowProbOnly, &self.s2t)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let rule = self.s2t.rule();
        let rare: Vec<usize> = batch.trained_tokens().filter(|t| rule.is_rare(batch.logprob[*t])).collect();
        base(batch, self.clip).without(&rare)
    }
}
