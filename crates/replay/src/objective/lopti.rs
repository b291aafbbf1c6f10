//! Lopti (arXiv 2505.12929): improbable tokens and the others in updates of their own.

use super::clipped::{Clip, base};
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::{LOPTI_ETA, Rule};

/// Improbable tokens and the others in updates of their own.
pub struct Lopti {
    /// Clipping.
    pub clip: Clip,
}

impl Objective for Lopti {
    fn rule(&self) -> Rule {
        Rule::Lopti
    }

    fn describe(&self) -> String {
        format!(
            "dapo in two updates: tokens with p_old < {LOPTI_ETA}, then the others; each over its own tokens"
        )
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut weighed = base(batch, self.clip);
        for t in batch.trained_tokens() {
            let improbable = f64::from(batch.old[t]).exp() < LOPTI_ETA;
            weighed.kept[t] = improbable == (batch.pass == 0);
        }
        weighed.counts.kept = Some(weighed.kept.iter().filter(|k| **k).count() as u64);
        weighed
    }

    fn passes(&self) -> usize {
        2
    }
}
