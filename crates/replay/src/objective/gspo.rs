//! GSPO: the ratio of the whole response, clipped in a narrow range.

use super::clipped::{Clip, surrogate};
use super::{Mean, MiniBatch, Objective, Weighed};
use stapo_framework::rules::{GSPO_CLIP, Rule};

/// The ratio of the whole response.
pub struct Gspo {
    /// c of a dual clip.
    pub dual_clip: Option<f64>,
}

impl Objective for Gspo {
    fn rule(&self) -> Rule {
        Rule::Gspo
    }

    fn describe(&self) -> String {
        format!(
            "the geometric mean of a response's ratios, clipped ({:e}/{:e}), mean over responses",
            GSPO_CLIP.low, GSPO_CLIP.high
        )
    }

    /// ρ_t = sg(s)·π/sg(π): the value of s with the gradient of one token.
    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let of_response: Vec<f64> = (0..batch.responses())
            .map(|response| {
                let (sum, count) = batch.trained_of(response).fold((0.0, 0_u32), |(sum, n), t| {
                    (sum + f64::from(batch.logprob[t]) - f64::from(batch.old[t]), n + 1)
                });
                (sum / f64::from(count.max(1))).exp()
            })
            .collect();
        let owner = batch.response_of_tokens();
        let clip = Clip { range: GSPO_CLIP, dual: self.dual_clip };
        Weighed::all(batch, |t| surrogate(of_response[owner[t]], batch.advantage(t), clip))
    }

    fn mean(&self, _batch: &MiniBatch<'_>) -> Mean {
        Mean::Sequence
    }
}
