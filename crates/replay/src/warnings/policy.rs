//! Whether the policy is the one that wrote the log, and whether it stays near it.

use super::rate::is_below_logged;
use super::subject::{Subject, warning};
use stapo_base::format::{grouped, number};
use stapo_result::replay::OldPolicy;
use stapo_result::replay::{ReplayWarning, ReplayWarningCode};

/// A checkpoint that gave the log differs by rounding only.
const SAME_POLICY: f64 = 0.02;

/// Without a checkpoint, the policy is a stand-in.
pub fn surrogate(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let model = &subject.result.model;
    let Some(fit) = &model.fit else { return Vec::new() };
    let judged = match (fit.correlation, fit.mean_abs_error) {
        (Some(correlation), Some(error)) => {
            let far = match fit.reached {
                true => "",
                false => {
                    "; that is too far for its ratios to mean much: differences between objectives are a rough sign only"
                }
            };
            format!(
                "on {} {} its ln p correlates with the logged one by {correlation:.2} and is off by {error:.2} nats on average{far}",
                grouped(fit.tokens),
                if fit.held_out { "held-out tokens" } else { "tokens that it was fitted to" }
            )
        }
        _ => "how near it is to the logged policy is not known: the log has no log-probabilities".into(),
    };
    let message = format!(
        "the policy is a surrogate of {} parameters fitted to the log in {} updates, not the policy that was trained; {judged}",
        grouped(model.parameters),
        grouped(fit.updates),
    );
    vec![warning(
        ReplayWarningCode::Surrogate,
        message,
        "give the checkpoint that the run started from: --model DIR",
    )]
}

/// A checkpoint that did not write the first step.
pub fn another(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let result = subject.result;
    let first = result.arms.first().and_then(|a| a.steps.first()?.drift);
    let far = first.filter(|drift| *drift > SAME_POLICY && !result.model.surrogate);
    let one = |drift: f64| {
        warning(
            ReplayWarningCode::OtherPolicy,
            format!(
                "before any update the model’s log-probabilities differ from the log’s by {drift:.3} on average"
            ),
            "check that --model is the checkpoint that wrote the first step of this log",
        )
    };
    far.map(one).into_iter().collect()
}

/// Arms that are further from their start than a guess would be: they say nothing of their objectives.
pub fn lost(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let lost = subject.result.lost();
    let Some(largest) = lost.iter().map(|(_, divergence)| *divergence).reduce(f64::max) else {
        return Vec::new();
    };
    let vocabulary = subject.result.model.vocab_size;
    let way_out = match is_below_logged(subject) {
        true => "look at the first steps of the curves",
        false => "lower --lr",
    };
    vec![warning(
        ReplayWarningCode::PolicyLost,
        format!(
            "{} of {} arms lost the policy that they started from: they end up to {} nats a token away from it, and a guess among {} tokens is at most {:.1} away; what such an arm ends with says nothing of its objective",
            lost.len(),
            subject.result.arms.len(),
            number(largest),
            grouped(vocabulary),
            (vocabulary.max(2) as f64).ln(),
        ),
        way_out,
    )]
}

/// The replayed policy leaves the one that drew the responses.
pub fn drift(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let steps = || subject.result.arms.iter().flat_map(|a| &a.steps);
    let largest = steps().filter_map(|s| s.drift).fold(0.0, f64::max);
    if largest < subject.settings.drift_limit || subject.result.model.surrogate {
        return Vec::new();
    }
    let recomputed = match steps().any(|s| s.old == OldPolicy::Recompute) {
        true => "; old log-probabilities were recomputed where it was",
        false => "",
    };
    // A rate below the log's own is not the reason, and going lower would replay another run.
    let way_out = match is_below_logged(subject) {
        true => "replay fewer steps (--steps)",
        false => "replay fewer steps (--steps), or lower --lr",
    };
    vec![warning(
        ReplayWarningCode::Drift,
        format!(
            "the replay drifts up to {largest:.3} (mean |ln ρ|) from the policy that drew the responses{recomputed}"
        ),
        format!(
            "the further it drifts, the less the logged responses are what this policy would say: {way_out}"
        ),
    )]
}
