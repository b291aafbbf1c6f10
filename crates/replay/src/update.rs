//! One update of a policy: loss, gradient, clipping, optimizer.

use std::time::Instant;

use super::assembled::{Assembled, Current};
use super::holdout::k3;
use super::model::{AdamW, Engine, GradientNorms, Policy, TokenStats};
use super::objective::{GateState, Judged, Objective, judge};
use super::settings::OptimizerSettings;
use stapo_base::error::Result;
use stapo_framework::token::ratio;
use stapo_result::replay::{Update, UpdateSpeed};

/// Keeps the clipping factor finite, as PyTorch's `clip_grad_norm_` does.
const TINY: f64 = 1e-6;

/// A policy in training.
pub struct Trainee {
    /// The policy.
    pub policy: Policy,
    /// Its optimizer.
    pub optimizer: AdamW,
    /// What the objective's gate has seen.
    pub gate: GateState,
    /// How fast each update of this start was.
    pub speeds: Vec<UpdateSpeed>,
}

/// Which update this is.
#[derive(Clone, Copy, Debug)]
pub struct UpdatePlace {
    /// Number of the update, from 0.
    pub update: u64,
    /// Step of the log.
    pub step: i64,
    /// Mini-batch of the step.
    pub minibatch: u64,
    /// Epoch.
    pub epoch: u64,
    /// The objective's pass.
    pub pass: usize,
    /// Seed of random choices.
    pub seed: u64,
}

/// What an update needs beside the policy.
pub struct Rules<'a> {
    /// Runs the policy.
    pub engine: &'a Engine,
    /// The policy that all arms started from.
    pub start: &'a Policy,
    /// The objective.
    pub objective: &'a dyn Objective,
    /// The optimizer's settings.
    pub optimizer: &'a OptimizerSettings,
    /// Weight of the divergence from the start.
    pub kl_beta: f64,
}

/// What an update did.
pub struct Updated {
    /// For the result.
    pub record: Update,
    /// The policy's numbers before it.
    pub before: Vec<TokenStats>,
    /// How the objective saw the mini-batch.
    pub judged: Judged,
    /// Whether the objective goes on with this mini-batch.
    pub goes_on: bool,
}

/// An update, or the numbers that made it impossible.
pub enum UpdateOutcome {
    /// The policy has moved.
    Done(Box<Updated>),
    /// Loss or gradient is not a number; the policy has not moved.
    NotFinite {
        /// What is not finite.
        what: &'static str,
        /// The policy's numbers.
        stats: Vec<TokenStats>,
    },
}

/// Trains on one mini-batch.
pub fn update(
    rules: &Rules<'_>,
    trainee: &mut Trainee,
    batch: &Assembled,
    place: UpdatePlace,
) -> Result<UpdateOutcome> {
    let begun = Instant::now();
    let mut judged = None;
    let (before, mut gradients) = rules.engine.differentiate(&trainee.policy, &batch.sequences, |stats| {
        let current = Current::of(stats);
        let view = batch.view(&current, place.pass, place.seed);
        let found = judge(rules.objective, &view, rules.kl_beta);
        let coefficients = if found.loss.is_finite() {
            batch.by_response(&found.coefficients)
        } else {
            batch.by_response(&vec![0.0; found.coefficients.len()])
        };
        judged = Some(found);
        Ok(coefficients)
    })?;
    let Some(judged) = judged.filter(|j| j.loss.is_finite()) else {
        return Ok(UpdateOutcome::NotFinite { what: "loss", stats: before });
    };
    let GradientNorms { global: norm, lm_head } = gradients.norms();
    if !norm.is_finite() {
        return Ok(UpdateOutcome::NotFinite { what: "gradient", stats: before });
    }
    let admitted = match rules.objective.gate() {
        Some(gate) => gate.admits(&mut trainee.gate, lm_head * lm_head),
        None => true,
    };
    if admitted {
        let factor = rules.optimizer.max_grad_norm / (norm + TINY);
        if factor < 1.0 {
            gradients.scale(factor);
        }
        let rate = rules.optimizer.rate_at(place.update);
        // The optimizer gets the only copy, so that it can change weights in place.
        let policy = std::mem::replace(&mut trainee.policy, rules.start.clone());
        trainee.policy = trainee.optimizer.step(policy, gradients, rate);
    }
    rules.engine.wait()?;
    let record = record(&before, batch, &judged, place, [norm, lm_head], !admitted);
    let tokens_per_second = record.tokens as f64 / begun.elapsed().as_secs_f64().max(1e-9);
    trainee.speeds.push(UpdateSpeed { update: place.update, tokens_per_second });
    Ok(UpdateOutcome::Done(Box::new(Updated { record, before, judged, goes_on: admitted })))
}

fn record(
    before: &[TokenStats],
    batch: &Assembled,
    judged: &Judged,
    place: UpdatePlace,
    [norm, lm_head]: [f64; 2],
    dropped: bool,
) -> Update {
    let current = Current::of(before);
    let (mut entropy, mut ratios, mut logs, mut divergence) = (0.0, 0.0, 0.0, 0.0);
    let (mut largest, mut tokens) = (0.0_f64, 0_u64);
    for t in batch.trained_tokens() {
        let (now, old) = (f64::from(current.logprob[t]), f64::from(batch.old[t]));
        entropy += f64::from(current.entropy[t]);
        ratios += ratio(now, old);
        largest = largest.max(ratio(now, old));
        logs += (now - old).abs();
        divergence += k3(current.logprob[t], batch.start[t]);
        tokens += 1;
    }
    let mean = |sum: f64| if tokens > 0 { sum / tokens as f64 } else { 0.0 };
    let kept = judged.kept.iter().filter(|k| **k).count();
    let clipped = judged.clipped.iter().zip(&judged.kept).filter(|(c, k)| **c && **k).count();
    Update {
        update: place.update,
        step: place.step,
        minibatch: place.minibatch,
        epoch: place.epoch,
        pass: place.pass as u64,
        tokens,
        loss: judged.loss,
        grad_norm: norm,
        lm_head_grad_norm: lm_head,
        dropped,
        mean_entropy: mean(entropy),
        mean_entropy_after: None,
        mean_ratio: mean(ratios),
        max_ratio: largest,
        mean_abs_log_ratio: mean(logs),
        clip_share: (kept > 0).then(|| clipped as f64 / kept as f64),
        kl_to_start: mean(divergence),
        counts: judged.counts,
    }
}
