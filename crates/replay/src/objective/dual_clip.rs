//! Any objective with a clipped surrogate, plus a dual clip (arXiv 1912.09729): where A < 0, ℓ ≤ −cA, so
//! that a token whose ratio has exploded loses its gradient instead of ruling the update.

use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::Rule;

/// A base objective that was built with a dual clip.
pub struct DualClip {
    /// The base, bounded.
    pub base: Box<dyn Objective>,
    /// c.
    pub bound: f64,
}

impl Objective for DualClip {
    fn rule(&self) -> Rule {
        Rule::DualClip
    }

    fn describe(&self) -> String {
        format!("{}, and where A < 0 the loss is at most −{}·A", self.base.rule().name(), self.bound)
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        self.base.weigh(batch)
    }

    fn base(&self) -> Option<&dyn Objective> {
        Some(&*self.base)
    }
}
