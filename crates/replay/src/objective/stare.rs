//! STARE (arXiv 2606.19236): surprising rewarded tokens weigh more while entropy is low.

use super::clipped::{Clip, surrogate};
use super::{MiniBatch, Objective, Weighed};
use stapo_framework::rules::{Rule, STARE_BOOST, largest, stare_count};

/// Surprising rewarded tokens weigh more while entropy is low.
pub struct Stare {
    /// Clipping.
    pub clip: Clip,
    /// The mean entropy below which it is active.
    pub target: f64,
}

impl Objective for Stare {
    fn rule(&self) -> Rule {
        Rule::Stare
    }

    fn describe(&self) -> String {
        format!(
            "dapo with A × {STARE_BOOST} for the tenth of the A > 0 tokens with the highest surprisal, while the mean entropy is below {}",
            self.target
        )
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut factor = vec![1.0; batch.trained.len()];
        let mut amplified = 0;
        if batch.mean_of(batch.entropy) < self.target {
            let positive = || batch.trained_tokens().filter(|t| batch.advantage[*t] > 0.0);
            let count = stare_count(positive().count());
            for t in largest(positive(), count, |t| -f64::from(batch.logprob[t])) {
                factor[t] = STARE_BOOST;
                amplified += 1;
            }
        }
        let mut weighed =
            Weighed::all(batch, |t| surrogate(batch.ratio(t), factor[t] * batch.advantage(t), self.clip));
        weighed.counts.amplified = Some(amplified);
        weighed
    }
}
