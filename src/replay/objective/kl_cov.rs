//! KL-Cov (arXiv 2505.22617): tokens of the highest covariance are held back by a penalty.

use super::covariance::covariances;
use super::{MiniBatch, Objective, Term, Weighed};
use crate::framework::rules::{KL_WEIGHT, covariance_picks};

/// See the module.
pub struct KlCov;

impl Objective for KlCov {
    fn name(&self) -> &'static str {
        "kl_cov"
    }

    fn rule(&self) -> String {
        "ℓ = −ρA without clipping, plus |ln ρ| for the 2e-4 of the tokens with the highest covariance".into()
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut weighed = Weighed::all(batch, |t| {
            let weight = batch.ratio(t) * batch.advantage(t);
            Term { loss: -weight, slope: -weight, clipped: false }
        });
        let covariance = covariances(batch);
        let count = covariance_picks(batch.trained_tokens().count());
        for t in batch.largest(batch.trained_tokens(), count, |t| covariance[t]) {
            let log_ratio = f64::from(batch.logprob[t]) - f64::from(batch.old[t]);
            // The gradient of |x| is 0 at 0.
            let sign = if log_ratio == 0.0 { 0.0 } else { log_ratio.signum() };
            weighed.terms[t].loss += KL_WEIGHT * log_ratio.abs();
            weighed.terms[t].slope += KL_WEIGHT * sign;
        }
        weighed
    }
}
