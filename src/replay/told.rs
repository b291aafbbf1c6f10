//! What is told of a mini-batch: the rows of its responses, or the tokens that stopped the arm.

use super::assembled::Assembled;
use super::model::TokenStats;
use super::result::{BadToken, Stop};
use super::stage::StepData;
use super::token_log::TrainedResponse;
use super::update::{Place, Updated};
use crate::framework::token::ratio;

/// Tokens that a stop names at most.
const BAD_TOKENS: usize = 8;

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

/// Names the tokens whose numbers are not finite, or else the least probable ones.
pub fn stop(what: &str, place: Place, data: &StepData, members: &[usize], stats: &[TokenStats]) -> Stop {
    let mut found: Vec<(bool, f32, BadToken)> = Vec::new();
    for (member, stats) in members.iter().zip(stats) {
        let response = &data.responses[*member];
        for t in (0..stats.len()).filter(|t| response.trained[*t]) {
            let logprob = stats.logprob[t];
            let bad = !logprob.is_finite() || !stats.entropy[t].is_finite();
            found.push((
                !bad,
                if logprob.is_nan() { f32::NEG_INFINITY } else { logprob },
                BadToken {
                    sample: response.name(),
                    position: t as u64,
                    token_id: response.tokens[response.response_start + t],
                    what: format!(
                        "ln π {logprob}, entropy {}, advantage {}",
                        stats.entropy[t], response.advantage[t]
                    ),
                },
            ));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Stop {
        reason: format!("the {what} is not a finite number"),
        update: place.update,
        step: place.step,
        minibatch: place.minibatch,
        tokens: found.into_iter().take(BAD_TOKENS).map(|(_, _, token)| token).collect(),
    }
}
