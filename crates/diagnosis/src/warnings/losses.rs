//! Batches that teach nothing.

use crate::numbers::evidence;
use stapo_base::format::grouped;
use stapo_collect::collect::Collected;
use stapo_collect::collect::tally::{BatchKey, BatchTally};
use stapo_result::{RunCore, Warning, WarningCode};

const HINT: &str = "such batches give no gradient, while the optimizer still moves by its momentum: filter \
                    groups of equal rewards, or choose harder or easier prompts";

/// A run in which no token is trained.
pub fn nothing_trained(analysis: &RunCore) -> Option<Warning> {
    let totals = &analysis.totals;
    (totals.tokens == 0).then(|| Warning {
        code: WarningCode::NothingTrained,
        message: format!("no token is trained: the mask leaves out all {}", grouped(totals.masked_out)),
        hint:
            "look at the mask: 1 (or true) is a token of the policy that is trained on; name another column \
               with --map mask=…"
                .into(),
        evidence: vec![evidence(None, "masked out", totals.masked_out as f64)],
    })
}

/// Batches in which no token has an advantage.
pub fn dead_batches(collected: &Collected) -> Option<Warning> {
    let is_dead = |(_, tally): &&(BatchKey, BatchTally)| {
        let counts = &tally.counts;
        counts.tokens > 0 && counts.positive + counts.negative == 0
    };
    let batches = collected.batches.iter();
    let dead: Vec<i64> = batches.filter(is_dead).map(|(key, _)| key.step).collect();
    let first = *dead.first()?;
    let all = collected.batches.len();
    let at_end = collected.batches.last().is_some_and(|last| is_dead(&last));
    Some(Warning {
        code: WarningCode::DeadBatches,
        message: format!(
            "{} of {} batches have no advantage at all{}",
            grouped(dead.len() as u64),
            grouped(all as u64),
            if at_end { ", the last one too" } else { "" },
        ),
        hint: HINT.into(),
        evidence: vec![
            evidence(Some(first), "first dead batch", first as f64),
            evidence(None, "dead batches", dead.len() as f64),
            evidence(None, "share of batches", dead.len() as f64 / all as f64),
        ],
    })
}
