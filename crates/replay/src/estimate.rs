//! What a replay will take, said before its first update: time, memory, disk.

use super::arm::EVALUATIONS;
use super::objective::build;
use super::stage::Stage;
use std::time::Duration;

use stapo_base::format::{bytes, counted, duration, grouped, percent};
use stapo_result::replay::OldPolicy;

/// A backward pass costs about two forward passes, so an update costs three.
const PASSES_OF_UPDATE: f64 = 3.0;
/// Bytes of a token in an arm's log before compression.
const LOGGED_BYTES: u64 = 46;
/// Bytes of a token of the log in memory: id, old and start log-probability, advantage, mask.
const HELD_BYTES: u64 = 24;
/// Weights, and both moments of AdamW, as float32.
const CHECKPOINT_BYTES: u64 = 12;

/// A line that says what is ahead, and whether the time that is left is enough for it. The speed was measured on the
/// log's first step.
pub fn estimate(stage: &Stage<'_>, keeps_files: bool, left: Option<Duration>) -> String {
    let (settings, survey) = (stage.settings, stage.survey);
    let arms = settings.objectives.len() as u64 * settings.seeds;
    let seconds = stage.forward_speed().map(|speed| forward_tokens(stage) / speed);
    let time = seconds.map_or("an unknown time".into(), |seconds| format!("about {}", duration(seconds)));
    let limit = match (seconds, left.map(|left| left.as_secs_f64())) {
        (Some(seconds), Some(left)) if seconds > left => format!(
            "; --max-minutes leaves {}, about {} of it, and --resume goes on",
            duration(left),
            percent(left / seconds)
        ),
        _ => String::new(),
    };
    let disk = match keeps_files {
        true => format!(", up to {} of disk", bytes(disk_bytes(stage, arms))),
        false => String::new(),
    };
    format!(
        "{} over {} responses in {}: {time} on {}, {}{disk}{limit}",
        counted(arms, "arm", "arms"),
        grouped(survey.data.responses),
        counted(survey.data.steps, "step", "steps"),
        settings.device,
        stage
            .engine
            .memory_plan(stage.start.config(), stage.start.lora(), stage.largest_minibatch_tokens())
            .told(log_bytes(stage)),
    )
}

/// Tokens through the forward pass, or what costs the same: updates, a look after each, drift, the
/// hold-out along the way, and old log-probabilities where they are recomputed.
fn forward_tokens(stage: &Stage<'_>) -> f64 {
    let (settings, survey) = (stage.settings, stage.survey);
    let tokens = survey.steps.iter().map(|s| s.tokens).sum::<u64>() as f64;
    let recomputed = if settings.old == OldPolicy::Recompute { 1.0 } else { 0.0 };
    let evaluations = EVALUATIONS.min(survey.steps.len()) as f64;
    let arms = settings.objectives.iter().filter_map(|rule| build(*rule, &settings.objective));
    let one = |passes: usize| {
        let updates = settings.epochs as f64 * (PASSES_OF_UPDATE * passes as f64 + 1.0);
        tokens * (updates + recomputed) + evaluations * survey.data.holdout_tokens as f64
    };
    tokens + arms.map(|objective| one(objective.passes())).sum::<f64>() * settings.seeds as f64
}

/// The log's window and the held-out responses.
fn log_bytes(stage: &Stage<'_>) -> u64 {
    let tokens: u64 = stage.survey.steps.iter().map(|s| s.tokens).sum();
    (stage.window_tokens().min(tokens) + stage.survey.data.holdout_tokens) * HELD_BYTES
}

/// Token logs of all arms with the parts of the last one, two checkpoints side by side, kept policies.
fn disk_bytes(stage: &Stage<'_>, arms: u64) -> u64 {
    let parameters = stage.start.trained_count() as u64;
    let kept = if stage.settings.save.is_some() { arms * parameters * 4 } else { 0 };
    let tokens: u64 = stage.survey.steps.iter().map(|s| s.tokens).sum();
    (arms + 1) * tokens * LOGGED_BYTES + 2 * parameters * CHECKPOINT_BYTES + kept
}
