//! Responses without any trained token: empty, masked as a whole, or without values. They count as responses, with
//! their rewards, and teach nothing.

use crate::numbers::evidence;
use stapo_base::format::grouped;
use stapo_evidence::Rewards;
use stapo_result::{Warning, WarningCode};

/// Says how many there are, where others are trained: a run without any has a warning of its own.
pub fn responses(rewards: &Rewards) -> Option<Warning> {
    let steps = || rewards.steps.iter().map(|(step, counts)| (*step, counts.responses - counts.trained));
    let (first, _) = steps().find(|(_, untrained)| *untrained > 0)?;
    let count: u64 = steps().map(|(_, untrained)| untrained).sum();
    let all: u64 = rewards.steps.values().map(|counts| counts.responses).sum();
    if count == all {
        return None;
    }
    let have = if count == 1 { "has" } else { "have" };
    Some(Warning {
        code: WarningCode::UntrainedResponses,
        message: format!(
            "{} of {} responses {have} no trained token, the first at step {first}",
            grouped(count),
            grouped(all),
        ),
        hint: "they count in mean rewards and lengths and teach nothing: fine where the trainer leaves out what was cut; \
               else look for empty responses, a mask of zeros, or values that are missing (`stapo-analyze check`)"
            .into(),
        evidence: vec![
            evidence(Some(first), "responses without a trained token", count as f64),
            evidence(None, "responses", all as f64),
        ],
    })
}
