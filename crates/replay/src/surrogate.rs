//! Without a checkpoint: a small policy fitted to the log's own responses. It is not the policy that
//! was trained, and everything that comes of it says so.

mod descent;
mod judge;
mod unfinished;

use std::path::Path;
use std::time::Instant;

use self::descent::{descend, rate};
use self::judge::{Judge, is_better};
use self::unfinished::UnfinishedFit;
use super::log::{LoggedResponse, Survey, Windows, minibatches};
use super::model::{Architecture, Engine, ModelConfig, Policy, RopeScaling};
use super::progress::ReplayProgress;
use super::settings::ReplaySettings;
use super::state::write;
use stapo_base::error::{Error, Result};
use stapo_base::stats::random::{draw, seed_of};
use stapo_result::replay::SurrogateFit;

/// Responses of an update.
const MINIBATCH: u64 = 32;
/// Updates between two looks at how near it is.
const LOOK: u64 = 50;
/// Looks without a better fit after which it ends: more updates would learn the trained responses by heart.
const PATIENCE: u64 = 8;
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
    unfinished::forget(folder)?;
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
            Some(folder) => unfinished::load(folder, &blank)?,
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
                        unfinished::save(folder, &fit)?;
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

fn told(fit: &SurrogateFit) -> String {
    let near = match (fit.correlation, fit.mean_abs_error) {
        (Some(correlation), Some(error)) => {
            format!("ln p correlates with the log’s by {correlation:.3} and is off by {error:.3} on average")
        }
        _ => "its distance from the log is not known".into(),
    };
    format!("surrogate after {} updates: cross-entropy {:.3}, {near}", fit.updates, fit.cross_entropy)
}
