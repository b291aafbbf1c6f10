//! GSPO: the ratio of the whole response, clipped in a narrow range.

use super::clipped::surrogate;
use super::{Mean, MiniBatch, Objective, Weighed};
use crate::framework::rules::GSPO_CLIP;
use crate::framework::token::ClipRange;

/// See the module.
pub struct Gspo;

impl Objective for Gspo {
    fn name(&self) -> &'static str {
        "gspo"
    }

    fn rule(&self) -> String {
        "the geometric mean of a response's ratios, clipped (3e-4/4e-4), mean over responses".into()
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
        let clip = ClipRange { low: GSPO_CLIP.0, high: GSPO_CLIP.1 };
        Weighed::all(batch, |t| surrogate(of_response[owner[t]], batch.advantage(t), clip))
    }

    fn mean(&self, _batch: &MiniBatch<'_>) -> Mean {
        Mean::Sequence
    }
}
