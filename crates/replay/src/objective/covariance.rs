//! cov = (A − Ā)(ln π − mean ln π) of every token, for `clip_cov` and `kl_cov`.

use super::MiniBatch;
use stapo_framework::rules::BatchMeans;

/// The covariance terms of all tokens; the means are over the trained ones.
pub fn covariances(batch: &MiniBatch<'_>) -> Vec<f64> {
    let means =
        BatchMeans { advantage: batch.mean_of(batch.advantage), logprob: batch.mean_of(batch.logprob) };
    let one = |t: usize| means.covariance(batch.advantage(t), f64::from(batch.logprob[t]));
    (0..batch.trained.len()).map(one).collect()
}
