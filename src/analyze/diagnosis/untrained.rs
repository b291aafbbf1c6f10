//! Responses without any trained token: empty, masked as a whole, or without values. They count as responses, with
//! their rewards, and teach nothing.

use super::series::evidence;
use crate::analyze::collect::signs::facts::{ResponseFact, ResponseFacts};
use crate::analyze::result::{Warning, WarningCode};
use crate::format::grouped;

/// Says how many there are, where others are trained: a run without any has a warning of its own.
pub fn responses(facts: &ResponseFacts) -> Option<Warning> {
    let idle = || facts.responses.iter().filter(|fact| fact.length == 0);
    let (count, all) = (idle().count(), facts.responses.len());
    let first: &ResponseFact = idle().next()?;
    if count == all {
        return None;
    }
    let cut = idle().filter(|fact| fact.truncated == Some(true)).count();
    let sampled = if facts.level > 0 { " that were looked at" } else { "" };
    let have = if count == 1 { "has" } else { "have" };
    let were_cut = if cut > 0 { format!(" ({} cut)", grouped(cut as u64)) } else { String::new() };
    Some(Warning {
        code: WarningCode::UntrainedResponses,
        message: format!(
            "{} of {} responses{sampled} {have} no trained token{were_cut}, the first at step {}",
            grouped(count as u64),
            grouped(all as u64),
            first.step
        ),
        hint: "they count in mean rewards and lengths and teach nothing: fine where the trainer leaves out what was cut; \
               else look for empty responses, a mask of zeros, or values that are missing (`stapo-analyze check`)"
            .into(),
        evidence: vec![
            evidence(Some(first.step), "responses without a trained token", count as f64),
            evidence(None, "responses", all as f64),
            evidence(None, "of these cut", cut as f64),
        ],
    })
}
