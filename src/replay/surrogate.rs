//! Without a checkpoint: a small policy fitted to the log's own responses. It is not the policy that
//! was trained, and everything that comes of it says so.

use std::path::Path;
use std::time::Instant;

use super::log::{LoggedResponse, Survey, Windows, minibatches};
use super::model::{AdamW, Architecture, Engine, ModelConfig, Policy, RopeScaling, TokenStats};
use super::progress::ReplayProgress;
use super::result::SurrogateFit;
use super::sequences::sequences;
use super::settings::ReplaySettings;
use super::state::write;
use super::surrogate_state::{self, UnfinishedFit};
use crate::error::{Error, Result};
use crate::framework::rules::BASE_CLIP;
use crate::stats::correlation::PearsonSums;
use crate::stats::random::{draw, seed_of};

/// Responses of an update.
const MINIBATCH: u64 = 32;
/// Learning rate at its highest.
const RATE: f64 = 2e-3;
/// Updates over which it rises.
const WARMUP: u64 = 20;
/// Updates between two looks at how near it is.
const LOOK: u64 = 50;
/// Looks without a better fit after which it ends: more updates would learn the trained responses by heart.
const PATIENCE: u64 = 8;
/// Responses that a fit is judged on at most.
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

/// What a fit is told beside the data.
pub struct Fitting<'a> {
    /// Runs the policy.
    pub engine: &'a Engine,
    /// The settings.
    pub settings: &'a ReplaySettings,
    /// Where the fit, or an unfinished one, is kept; nowhere without one.
    pub folder: Option<&'a Path>,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Told how far it is.
    pub progress: &'a dyn ReplayProgress,
}

/// Fits a surrogate, or takes the one that an earlier start of the same replay has fitted.
pub fn fitted(
    blank: Policy,
    survey: &Survey,
    windows: &mut Windows<'_>,
    fitting: &Fitting<'_>,
) -> Result<(Policy, SurrogateFit)> {
    let Some(folder) = fitting.folder else { return fit(blank, survey, windows, fitting) };
    let facts = folder.join("fit.json");
    if let Ok(text) = std::fs::read_to_string(&facts) {
        let fit = serde_json::from_str(&text).map_err(|e| Error::Corrupt {
            path: facts,
            place: "state of a replay".into(),
            message: e.to_string(),
        })?;
        return Ok((Policy::load(folder, &blank.device())?, fit));
    }
    let (policy, fit) = fit(blank, survey, windows, fitting)?;
    policy.save(folder)?;
    // Last: where it exists, the fit is complete.
    write(&facts, serde_json::to_string(&fit).map_err(|e| Error::write(&facts, e))?.as_bytes())?;
    surrogate_state::forget(folder)?;
    Ok((policy, fit))
}

fn fit(
    blank: Policy,
    survey: &Survey,
    windows: &mut Windows<'_>,
    fitting: &Fitting<'_>,
) -> Result<(Policy, SurrogateFit)> {
    let Fitting { engine, settings, folder, deadline, progress } = *fitting;
    progress.say("no --model: fitting a surrogate policy to the log");
    let judge = Judge::new(survey, windows, settings)?;
    let UnfinishedFit { mut policy, mut optimizer, mut updates, mut looks_since_best, mut best } =
        match folder {
            Some(folder) => surrogate_state::load(folder, &blank)?,
            None => None,
        }
        .unwrap_or_else(|| UnfinishedFit::none(blank));
    let (done_before, mut visited) = (updates, 0);
    let most = settings.surrogate_updates;
    for round in 0_u64.. {
        for index in 0..survey.steps.len() {
            let responses = windows.step(index)?;
            let mut batches = minibatches(&responses, Some(MINIBATCH));
            let count = batches.len();
            draw(seed_of(&[SEED, round, index as u64]), &mut batches, count);
            for members in batches {
                visited += 1;
                if visited <= done_before {
                    continue;
                }
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    if let Some(folder) = folder {
                        let fit = UnfinishedFit { policy, optimizer, updates, looks_since_best, best };
                        surrogate_state::save(folder, &fit)?;
                    }
                    return Err(out_of_time(updates, most));
                }
                let chosen: Vec<LoggedResponse> = members.iter().map(|i| responses[*i].clone()).collect();
                policy = descend(policy, engine, &mut optimizer, &chosen, rate(updates, most))?;
                updates += 1;
                if !updates.is_multiple_of(LOOK) && updates != most {
                    continue;
                }
                let fit = judge.look(engine, &policy, updates)?;
                progress.say(&told(&fit));
                looks_since_best += 1;
                if best.as_ref().is_none_or(|(_, known)| is_better(&fit, known)) {
                    looks_since_best = 0;
                    best = Some((policy.clone(), fit));
                }
                let done = best.as_ref().is_some_and(|(_, fit)| fit.reached);
                if done || updates == most || looks_since_best == PATIENCE {
                    return best.ok_or_else(nothing_fitted);
                }
            }
        }
    }
    best.ok_or_else(nothing_fitted)
}

fn out_of_time(updates: u64, most: u64) -> Error {
    Error::Usage {
        message: format!(
            "the time was up while the surrogate was fitted: {updates} of at most {most} updates"
        ),
        hint: "--resume goes on from there; give more --max-minutes, or the policy itself (--model)".into(),
    }
}

/// A fit looks at itself at its end at the latest, so this is not met.
fn nothing_fitted() -> Error {
    Error::Usage {
        message: "the surrogate was not fitted at all".into(),
        hint: "give --surrogate-updates 1 or more".into(),
    }
}

/// Nearer to the log; where the log has no log-probabilities, of the smaller cross-entropy.
fn is_better(fit: &SurrogateFit, known: &SurrogateFit) -> bool {
    match (fit.mean_abs_error, known.mean_abs_error) {
        (Some(new), Some(old)) => new < old,
        _ => fit.cross_entropy < known.cross_entropy,
    }
}

fn told(fit: &SurrogateFit) -> String {
    let near = match (fit.correlation, fit.mean_abs_error) {
        (Some(correlation), Some(error)) => {
            format!("ln p correlates with the log’s by {correlation:.3} and is off by {error:.3} on average")
        }
        _ => "its distance from the log is not known".into(),
    };
    format!("surrogate after {} updates: cross-entropy {:.3}, {near}", fit.updates, fit.cross_entropy)
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

/// Judges a fit on responses that it does not train on; only where nothing is held out, on some that it
/// does.
struct Judge {
    responses: Vec<LoggedResponse>,
    held_out: bool,
    correlation: f64,
}

impl Judge {
    fn new(survey: &Survey, windows: &mut Windows<'_>, settings: &ReplaySettings) -> Result<Self> {
        let held = windows.holdout()?;
        let held_out = !held.is_empty();
        let responses = match held_out {
            true => {
                let stride = held.len().div_ceil(WATCHED).max(1);
                held.into_iter().step_by(stride).collect()
            }
            false => of_all_steps(survey, windows)?,
        };
        Ok(Self { responses, held_out, correlation: settings.surrogate_correlation })
    }

    fn look(&self, engine: &Engine, policy: &Policy, updates: u64) -> Result<SurrogateFit> {
        let stats: Vec<TokenStats> = engine.measure(policy, &sequences(&self.responses))?;
        let mut sums = PearsonSums::new(0.0, 0.0);
        let (mut loss, mut tokens) = (0.0, 0_u64);
        let (mut distance, mut compared) = (0.0, 0_u64);
        for (response, stats) in self.responses.iter().zip(&stats) {
            for t in (0..stats.len()).filter(|t| response.trained[*t]) {
                let logprob = f64::from(stats.logprob[t]);
                loss -= logprob;
                tokens += 1;
                if let Some(logged) = response.old.get(t).filter(|logged| logged.is_finite()) {
                    sums.add(logprob, f64::from(*logged));
                    distance += (logprob - f64::from(*logged)).abs();
                    compared += 1;
                }
            }
        }
        let (correlation, error) = (sums.correlation(), (compared > 0).then(|| distance / compared as f64));
        Ok(SurrogateFit {
            updates,
            cross_entropy: loss / tokens.max(1) as f64,
            correlation,
            mean_abs_error: error,
            held_out: self.held_out,
            tokens,
            reached: correlation.is_some_and(|c| c >= self.correlation)
                && error.is_some_and(|e| e <= largest_error()),
        })
    }
}

/// Mean |ln p − logged ln p| that a surrogate may have: at more, the token of a perfect policy would look
/// like one that the base objective clips.
#[must_use]
pub fn largest_error() -> f64 {
    BASE_CLIP.high.ln_1p()
}

/// Responses spread over all steps.
fn of_all_steps(survey: &Survey, windows: &mut Windows<'_>) -> Result<Vec<LoggedResponse>> {
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

    #[test]
    fn a_high_correlation_alone_is_not_near_the_log() {
        let fit = |error: f64, cross_entropy: f64| SurrogateFit {
            updates: 1,
            cross_entropy,
            correlation: Some(0.94),
            mean_abs_error: Some(error),
            held_out: true,
            tokens: 1,
            reached: false,
        };
        assert!(largest_error() > 0.2 && largest_error() < 0.3);
        assert!(is_better(&fit(0.2, 3.0), &fit(1.0, 2.0)));
        assert!(!is_better(&fit(1.0, 2.0), &fit(0.2, 3.0)));
    }
}
