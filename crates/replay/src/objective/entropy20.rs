//! Only the fifth of the tokens with the highest entropy learns (arXiv 2506.01939).

use super::clipped::{Clip, base};
use super::words::on_base;
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::{Rule, high_entropy_count, largest};

/// Only the fifth of the tokens with the highest entropy learns (arXiv 2506.01939).
pub struct Entropy20 {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Entropy20 {
    fn rule(&self) -> Rule {
        Rule::Entropy20
    }

    fn describe(&self) -> String {
        on_base(Rule::Entropy20)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let count = high_entropy_count(batch.trained_tokens().count());
        let chosen = largest(batch.trained_tokens(), count, |t| f64::from(batch.entropy[t]));
        let mut weighed = base(batch, self.clip);
        weighed.kept.fill(false);
        chosen.iter().for_each(|t| weighed.kept[*t] = true);
        weighed.counts.kept = Some(chosen.len() as u64);
        weighed
    }
}
