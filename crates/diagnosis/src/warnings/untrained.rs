//! Responses without any trained token: empty, masked as a whole, or without values. They count as responses, with
//! their rewards, and teach nothing. And responses that end in a token that is never trained.

use crate::evidence::evidence;
use stapo_base::format::grouped;
use stapo_collect::collect::Collected;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_result::{Warning, WarningCode};

/// Share of responses that were not cut and end in the one token that is never trained; the others may have been cut without
/// a column that says so.
const NEARLY_ALL: f64 = 0.9;

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

/// Says that the token that ends responses is never trained: a mask that is one token too short. A token that is
/// trained elsewhere, as a line break after the end of a turn, is none that the policy ends with.
pub fn ends(collected: &Collected, shown: &dyn Fn(i32) -> String) -> Option<Warning> {
    let facts = &collected.signs.facts;
    let finished = || facts.responses.iter().filter(|fact| fact.length > 0 && fact.truncated != Some(true));
    let id = finished().find_map(|fact| fact.left_out_end)?;
    let (count, all) = (finished().filter(|fact| fact.left_out_end == Some(id)).count(), finished().count());
    if (count as f64) < NEARLY_ALL * all as f64 || collected.vocabulary.iter().any(|(known, _)| known == id) {
        return None;
    }
    let sampled = if facts.level > 0 { " that were looked at" } else { "" };
    Some(Warning {
        code: WarningCode::UntrainedEnds,
        message: format!(
            "{} of {} responses that were not cut{sampled} end in {}, which the mask leaves out there and which is trained \
             nowhere: the policy does not learn to stop",
            grouped(count as u64),
            grouped(all as u64),
            shown(id)
        ),
        hint: "let the mask hold the token that ends a response, unless the program puts it there and not the policy".into(),
        evidence: vec![
            evidence(None, "responses that end in it", count as f64),
            evidence(None, "responses that were not cut", all as f64),
        ],
    })
}
