//! Only the fifth of the tokens with the highest entropy learns (arXiv 2506.01939).

use super::clipped::base;
use super::{MiniBatch, Objective, Weighed};
use crate::framework::token::ClipRange;

/// Share of the tokens that learn.
const SHARE: f64 = 0.2;

/// See the module.
pub struct Entropy20 {
    /// Clipping.
    pub clip: ClipRange,
}

impl Objective for Entropy20 {
    fn name(&self) -> &'static str {
        "entropy20"
    }

    fn rule(&self) -> String {
        "dapo on the fifth of the tokens with the highest entropy".into()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let all = batch.trained_tokens().count();
        let count = (SHARE * all as f64).ceil() as usize;
        let chosen = batch.largest(batch.trained_tokens(), count, |t| f64::from(batch.entropy[t]));
        let mut weighed = base(batch, self.clip);
        weighed.kept.fill(false);
        chosen.iter().for_each(|t| weighed.kept[*t] = true);
        weighed.counts.kept = Some(chosen.len() as u64);
        weighed
    }
}
