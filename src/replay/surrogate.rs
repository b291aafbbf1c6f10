//! Without a checkpoint: a small policy fitted to the log's own responses. It is not the policy that
//! was trained, and everything that comes of it says so.

use std::path::Path;

use super::log::{LoggedResponse, Survey, Windows, minibatches};
use super::model::{
    AdamW, AdamWSettings, Architecture, Engine, ModelConfig, Policy, RopeScaling, TokenStats,
};
use super::random::{draw, seed_of};
use super::result::SurrogateFit;
use super::settings::ReplaySettings;
use super::stage::sequences;
use super::state::write;
use super::{ReplayProgress, exact_json};
use crate::error::{Error, Result};
use crate::stats::correlation::PearsonSums;

/// Responses of an update.
const MINIBATCH: u64 = 32;
/// Learning rate at its highest.
const RATE: f64 = 2e-3;
/// Updates over which it rises.
const WARMUP: u64 = 20;
/// Updates between two looks at the correlation.
const LOOK: u64 = 50;
/// Responses that the correlation is taken over at most.
const WATCHED: usize = 256;
/// The gradient's global norm is clipped to this.
const MAX_NORM: f64 = 1.0;
/// Weight of the squared distance beside the cross-entropy.
const PULL: f32 = 1.0;
/// A distance counts as this at most, so that no token drowns the others.
const FURTHEST: f32 = 4.0;
/// Seed of weights and order.
const SEED: u64 = 11;

/// The shape of a surrogate for a vocabulary that holds this id.
#[must_use]
pub fn shape(largest_id: u32) -> ModelConfig {
    ModelConfig {
        architecture: Architecture::Qwen3,
        hidden_size: 128,
        intermediate_size: 320,
        layers: 3,
        heads: 4,
        kv_heads: 2,
        head_dim: 32,
        vocab_size: (largest_id as usize + 1).next_multiple_of(64),
        rms_norm_eps: 1e-6,
        rope_theta: 10_000.0,
        rope_scaling: RopeScaling::None,
        tied: true,
        qkv_bias: false,
        output_bias: false,
        mlp_bias: false,
    }
}

/// Fits a surrogate, or takes the one that an earlier start of the same replay has fitted.
pub fn fitted(
    folder: &Path,
    blank: Policy,
    engine: &Engine,
    survey: &Survey,
    windows: &mut Windows<'_>,
    settings: &ReplaySettings,
    progress: &dyn ReplayProgress,
) -> Result<(Policy, SurrogateFit)> {
    let facts = folder.join("fit.json");
    if let Ok(text) = std::fs::read_to_string(&facts) {
        let fit = exact_json::from_str(&text).map_err(|e| Error::Corrupt {
            path: facts,
            place: "state of a replay".into(),
            message: e.to_string(),
        })?;
        return Ok((Policy::load(folder, &blank.device())?, fit));
    }
    progress.say("no --model: fitting a surrogate policy to the log");
    let (policy, fit) = fit(blank, engine, survey, windows, settings, progress)?;
    policy.save(folder)?;
    // Last: where it exists, the fit is complete.
    write(&facts, exact_json::to_string(&fit).map_err(|e| Error::write(&facts, e))?.as_bytes())?;
    Ok((policy, fit))
}

fn fit(
    mut policy: Policy,
    engine: &Engine,
    survey: &Survey,
    windows: &mut Windows<'_>,
    settings: &ReplaySettings,
    progress: &dyn ReplayProgress,
) -> Result<(Policy, SurrogateFit)> {
    let watched = watched(survey, windows)?;
    let mut optimizer = AdamW::new(AdamWSettings::default());
    let mut fit =
        SurrogateFit { updates: 0, cross_entropy: f64::NAN, correlation: None, tokens: 0, reached: false };
    let most = settings.surrogate_updates;
    for round in 0_u64.. {
        for index in 0..survey.steps.len() {
            let responses = windows.step(index)?;
            let mut batches = minibatches(&responses, Some(MINIBATCH));
            let count = batches.len();
            draw(seed_of(&[SEED, round, index as u64]), &mut batches, count);
            for members in batches {
                if fit.updates == most || fit.reached {
                    return Ok((policy, fit));
                }
                let chosen: Vec<LoggedResponse> = members.iter().map(|i| responses[*i].clone()).collect();
                policy = descend(policy, engine, &mut optimizer, &chosen, rate(fit.updates, most))?;
                fit.updates += 1;
                if fit.updates.is_multiple_of(LOOK) || fit.updates == most {
                    look(&mut fit, engine, &policy, &watched)?;
                    fit.reached = fit.correlation.is_some_and(|c| c >= settings.surrogate_correlation);
                    let correlation = fit.correlation.map_or("not known".into(), |c| format!("{c:.3}"));
                    progress.say(&format!(
                        "surrogate after {} updates: cross-entropy {:.3}, correlation with the log {correlation}",
                        fit.updates, fit.cross_entropy
                    ));
                }
            }
        }
    }
    Ok((policy, fit))
}

/// Rises, then falls as a cosine.
fn rate(update: u64, most: u64) -> f64 {
    let risen = ((update + 1) as f64 / WARMUP as f64).min(1.0);
    let done = update as f64 / most.max(1) as f64;
    RATE * risen * (0.55 + 0.45 * (std::f64::consts::PI * done).cos())
}

/// One update on the trained tokens: mean cross-entropy, and half the squared distance of the
/// log-probabilities from the logged ones, which say of every sampled token how likely it was and so
/// teach more than the sample alone.
fn descend(
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
    let norm = gradients.global_norm();
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

/// Responses spread over all steps.
fn watched(survey: &Survey, windows: &mut Windows<'_>) -> Result<Vec<LoggedResponse>> {
    let steps = survey.steps.len();
    let each = WATCHED.div_ceil(steps).max(1);
    let mut watched = Vec::new();
    for index in (0..steps).step_by(steps.div_ceil(WATCHED)) {
        let responses = windows.step(index)?;
        let stride = responses.len().div_ceil(each).max(1);
        watched.extend(responses.iter().step_by(stride).cloned());
    }
    Ok(watched)
}

fn look(fit: &mut SurrogateFit, engine: &Engine, policy: &Policy, watched: &[LoggedResponse]) -> Result<()> {
    let stats: Vec<TokenStats> = engine.measure(policy, &sequences(watched))?;
    let mut sums = PearsonSums::new(0.0, 0.0);
    let (mut loss, mut tokens) = (0.0, 0_u64);
    for (response, stats) in watched.iter().zip(&stats) {
        for t in (0..stats.len()).filter(|t| response.trained[*t]) {
            loss -= f64::from(stats.logprob[t]);
            tokens += 1;
            if let Some(logged) = response.old.get(t).filter(|logged| logged.is_finite()) {
                sums.add(f64::from(stats.logprob[t]), f64::from(*logged));
            }
        }
    }
    fit.cross_entropy = loss / tokens.max(1) as f64;
    fit.correlation = sums.correlation();
    fit.tokens = tokens;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Id;

    #[test]
    fn weights_pull_towards_the_logged_log_probability() {
        let response = LoggedResponse {
            ordinal: 0,
            step: 0,
            update: None,
            group: Id::Missing,
            sample: Id::Missing,
            reward: 0.0,
            centred_reward: 0.0,
            tokens: vec![0; 6],
            response_start: 1,
            old: vec![-1.0, -1.0, -1.0, f32::NAN, -1.0],
            teacher: vec![],
            advantage: vec![0.0; 5],
            trained: vec![true, true, true, true, false],
        };
        let stats = TokenStats { logprob: vec![-1.0, -3.0, -0.5, -2.0, -2.0], ..TokenStats::default() };
        // Descent adds to ln π where the weight is negative: most where π is too small.
        assert_eq!(weights(&response, &stats, -1.0), [-1.0, -3.0, -0.5, -1.0, 0.0]);
    }
}
