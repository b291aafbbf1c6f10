//! What of the log is left out, and what is held out.

use super::subject::{Subject, warning};
use stapo_base::format::grouped;
use stapo_result::replay::{ReplayWarning, ReplayWarningCode};

/// Responses, tokens and labels that are missing.
pub fn warnings(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    [skipped(subject), incomplete(subject), holdout(subject)].into_iter().flatten().collect()
}

fn skipped(subject: &Subject<'_>) -> Option<ReplayWarning> {
    let skipped = &subject.result.data.skipped;
    let responses: u64 = skipped.iter().map(|s| s.responses).sum();
    let reasons: Vec<String> =
        skipped.iter().map(|s| format!("{} ({})", s.reason, grouped(s.responses))).collect();
    (responses > 0).then(|| {
        warning(
            ReplayWarningCode::Skipped,
            format!("{} responses cannot be replayed: {}", grouped(responses), reasons.join(", ")),
            "log complete prompt_ids and token_ids",
        )
    })
}

fn incomplete(subject: &Subject<'_>) -> Option<ReplayWarning> {
    let tokens = subject.result.data.incomplete_tokens;
    (tokens > 0).then(|| {
        warning(
            ReplayWarningCode::Skipped,
            format!(
                "{} trained tokens lack an old log-probability or an advantage and are not trained on",
                grouped(tokens)
            ),
            "log them, or give --old recompute where only log-probabilities are missing",
        )
    })
}

fn holdout(subject: &Subject<'_>) -> Option<ReplayWarning> {
    let (correct, wrong) = subject.labels;
    let (message, hint) = if subject.result.data.holdout_responses == 0 {
        ("nothing is held out: what an arm keeps or loses is not measured".into(), "give --holdout 0.2")
    } else if correct == 0 || wrong == 0 {
        let message = format!(
            "the held-out responses are {correct} correct and {wrong} wrong ones: their separation is not defined"
        );
        (message, "hold out more prompts (--holdout), or log rewards")
    } else {
        return None;
    };
    Some(warning(ReplayWarningCode::NoHoldout, message, hint))
}
