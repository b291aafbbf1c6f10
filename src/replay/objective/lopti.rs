//! Lopti (arXiv 2505.12929): improbable tokens and the others in updates of their own.

use super::clipped::base;
use super::{MiniBatch, Objective, Weighed};
use crate::framework::token::ClipRange;

/// p_old below which a token is in the first update.
const ETA: f64 = 0.4;

/// See the module.
pub struct Lopti {
    /// Clipping.
    pub clip: ClipRange,
}

impl Objective for Lopti {
    fn name(&self) -> &'static str {
        "lopti"
    }

    fn rule(&self) -> String {
        format!("dapo in two updates: tokens with p_old < {ETA}, then the others; each over its own tokens")
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut weighed = base(batch, self.clip);
        for t in batch.trained_tokens() {
            let improbable = f64::from(batch.old[t]).exp() < ETA;
            weighed.kept[t] = improbable == (batch.pass == 0);
        }
        weighed.counts.kept = Some(weighed.kept.iter().filter(|k| **k).count() as u64);
        weighed
    }

    fn passes(&self) -> usize {
        2
    }
}
