//! One update of a fit, and how far it goes.

use crate::log::LoggedResponse;
use crate::model::{AdamW, Engine, Policy, TokenStats};
use crate::sequences::sequences;
use stapo_base::error::Result;

/// Learning rate at its highest.
const RATE: f64 = 2e-3;
/// Updates over which it rises.
const WARMUP: u64 = 20;
/// The gradient's global norm is clipped to this.
const MAX_NORM: f64 = 1.0;
/// Weight of the squared distance beside the cross-entropy.
const PULL: f32 = 1.0;
/// A distance counts as this at most, so that no token drowns the others.
const FURTHEST: f32 = 4.0;

/// Rises, then falls as a cosine.
pub fn rate(update: u64, most: u64) -> f64 {
    let risen = ((update + 1) as f64 / WARMUP as f64).min(1.0);
    let done = update as f64 / most.max(1) as f64;
    RATE * risen * (0.55 + 0.45 * (std::f64::consts::PI * done).cos())
}

/// One update on the trained tokens: mean cross-entropy, and half the squared distance of the
/// log-probabilities from the logged ones, which say of every sampled token how likely it was and so
/// teach more than the sample alone.
pub fn descend(
    policy: Policy,
    engine: &Engine,
    optimizer: &mut AdamW,
    responses: &[LoggedResponse],
    rate: f64,
) -> Result<Policy> {
    let tokens: u64 = responses.iter().map(LoggedResponse::trained_tokens).sum();
    let each = -1.0 / tokens.max(1) as f32;
    let weigh = |stats: &[TokenStats]| {
        let pairs = responses.iter().zip(stats);
        Ok(pairs.map(|(response, stats)| weights(response, stats, each)).collect())
    };
    let (_, mut gradients) = engine.differentiate(&policy, &sequences(responses), weigh)?;
    let norm = gradients.norms().global;
    if norm > MAX_NORM {
        gradients.scale(MAX_NORM / norm);
    }
    Ok(if norm.is_finite() { optimizer.step(policy, gradients, rate) } else { policy })
}

/// The derivative of the loss with respect to ln π of every token.
fn weights(response: &LoggedResponse, stats: &TokenStats, each: f32) -> Vec<f32> {
    let weight = |t: usize| {
        let distance = response.old.get(t).map_or(0.0, |logged| stats.logprob[t] - logged);
        let pull = if distance.is_finite() { distance.clamp(-FURTHEST, FURTHEST) } else { 0.0 };
        if response.trained[t] { each * (1.0 - PULL * pull) } else { 0.0 }
    };
    (0..stats.len()).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_batch::batch::Id;

    #[test]
    fn weights_pull_towards_the_logged_log_probability() {
        let response = LoggedResponse {
            ordinal: 0,
            step: 0,
            update: None,
            group: Id::Missing,
            sample: Id::Missing,
            reward: 0.0,
            correct: None,
            centred_reward: 0.0,
            tokens: vec![0; 6],
            response_start: 1,
            old: vec![-1.0, -1.0, -1.0, f32::NAN, -1.0],
            rollout: vec![],
            teacher: vec![],
            advantage: vec![0.0; 5],
            trained: vec![true, true, true, true, false],
        };
        let stats = TokenStats { logprob: vec![-1.0, -3.0, -0.5, -2.0, -2.0], ..TokenStats::default() };
        // Descent adds to ln π where the weight is negative: most where π is too small.
        assert_eq!(weights(&response, &stats, -1.0), [-1.0, -3.0, -0.5, -1.0, 0.0]);
    }
}
