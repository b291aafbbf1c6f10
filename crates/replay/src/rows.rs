//! The rows that a mini-batch adds to an arm's token log, and its mean entropy.

use super::assembled::Assembled;
use super::model::TokenStats;
use super::token_log::TrainedResponse;
use super::update::Updated;
use stapo_framework::token::ratio;

/// The rows of a mini-batch's responses.
pub fn trained(
    members: &[usize],
    minibatch: u64,
    batch: &Assembled,
    before: &[TokenStats],
    after: Vec<TokenStats>,
    updated: &Updated,
) -> Vec<TrainedResponse> {
    let rows = members.iter().zip(before).zip(after).enumerate();
    rows.map(|(place, ((index, before), after))| {
        let range = batch.bounds[place]..batch.bounds[place + 1];
        let clipped = updated.judged.clipped[range.clone()].to_vec();
        let norm = |t: usize| {
            let ratio = ratio(f64::from(before.logprob[t]), f64::from(batch.old[range.start + t]));
            let weight = if clipped[t] { 0.0 } else { ratio * f64::from(batch.advantage[range.start + t]) };
            (weight.abs() * f64::from(before.logit_grad_sq[t]).sqrt()) as f32
        };
        let grad_norm = (0..range.len()).map(norm).collect();
        TrainedResponse { index: *index, minibatch, before: before.clone(), after, grad_norm, clipped }
    })
    .collect()
}

/// Mean entropy of the trained tokens.
pub fn mean_entropy(stats: &[TokenStats], batch: &Assembled) -> Option<f64> {
    let entropies: Vec<f32> = stats.iter().flat_map(|s| &s.entropy).copied().collect();
    let (sum, count) =
        batch.trained_tokens().fold((0.0, 0), |(s, n), t| (s + f64::from(entropies[t]), n + 1));
    let mean = sum / f64::from(count);
    mean.is_finite().then_some(mean)
}
