//! What became of single arms.

use super::subject::{Subject, warning};
use crate::provenance::logged_rate;
use stapo_result::replay::{ArmResult, ReplayWarning, ReplayWarningCode, Stop};

/// Arms that stopped early.
pub fn stopped(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let rate = subject.settings.optimizer.rate();
    let hint = match logged_rate(subject.run).filter(|logged| *logged < rate) {
        Some(logged) => {
            format!("train at the log’s rate, --lr {logged:e}, or look at these tokens in the log")
        }
        None => "lower --lr, or look at these tokens in the log".into(),
    };
    let stops = subject.result.arms.iter().filter_map(|arm| Some((arm, arm.stopped.as_ref()?)));
    stops
        .map(|(arm, stop)| warning(ReplayWarningCode::ArmStopped, message(arm, stop), hint.clone()))
        .collect()
}

fn message(arm: &ArmResult, stop: &Stop) -> String {
    let tokens: Vec<String> =
        stop.tokens.iter().map(|t| format!("{} at {} ({})", t.token_id, t.position, t.sample)).collect();
    format!(
        "{} with seed {} stopped at update {} (step {}, mini-batch {}): {}; tokens to look at: {}",
        arm.objective,
        arm.seed,
        stop.update,
        stop.step,
        stop.minibatch,
        stop.reason,
        tokens.join(", ")
    )
}

/// Arms that the time was too short for.
pub fn out_of_time(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let unfinished = &subject.result.unfinished;
    let Some(first) = unfinished.first() else { return Vec::new() };
    let more = match unfinished.len() - 1 {
        0 => String::new(),
        n => format!(", and {n} more arms"),
    };
    vec![warning(
        ReplayWarningCode::TimeLimit,
        format!(
            "the time was up: {} with seed {} is at step {} of {}{more}; tables and differences are of complete arms only",
            first.objective, first.seed, first.steps_done, first.steps
        ),
        "go on with the same command and --resume",
    )]
}

/// Masks that took nothing out.
pub fn nothing_silenced(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let rows = subject.result.summary.iter().filter(|row| row.silenced == Some(0.0) && row.finished > 0);
    rows.map(|row| {
        warning(
            ReplayWarningCode::NothingSilenced,
            format!("{} silenced no token: it trained as its base does", row.objective),
            "replay more steps, or raise --tau-p",
        )
    })
    .collect()
}
