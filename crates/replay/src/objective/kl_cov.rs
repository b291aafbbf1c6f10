//! KL-Cov (arXiv 2505.22617): tokens of the highest covariance are held back by a penalty.

use super::covariance::covariances;
use super::{MiniBatch, Objective, Term, Weighed};
use stapo_framework::rules::{COVARIANCE_SHARE, KL_WEIGHT, Rule, covariance_picks, kl_slope, largest};

/// Tokens of the highest covariance are held back by a penalty.
pub struct KlCov;

impl Objective for KlCov {
    fn rule(&self) -> Rule {
        Rule::KlCov
    }

    fn describe(&self) -> String {
        format!(
            "ℓ = −ρA without clipping, plus |ln ρ| for the {COVARIANCE_SHARE:e} of the tokens with the highest covariance"
        )
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mut weighed = Weighed::all(batch, |t| {
            let weight = batch.ratio(t) * batch.advantage(t);
            Term { loss: -weight, slope: -weight, clipped: false }
        });
        let covariance = covariances(batch);
        let count = covariance_picks(batch.trained_tokens().count());
        for t in largest(batch.trained_tokens(), count, |t| covariance[t]) {
            let log_ratio = f64::from(batch.logprob[t]) - f64::from(batch.old[t]);
            weighed.terms[t].loss += KL_WEIGHT * log_ratio.abs();
            weighed.terms[t].slope += kl_slope(batch.ratio(t));
        }
        weighed
    }
}
