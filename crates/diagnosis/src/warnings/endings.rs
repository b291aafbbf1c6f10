//! Reasons for which responses ended that are not understood.

use crate::numbers::evidence;
use crate::words::short;
use stapo_base::format::grouped;
use stapo_batch::columns::Column;
use stapo_collect::collect::Collected;
use stapo_collect::plan::{DimensionSource, Plan, is_unknown_ending};
use stapo_result::{Warning, WarningCode};

/// Reasons that are named in the message.
const NAMED: usize = 4;

/// Says which they are, where nothing else says whether responses were cut.
pub fn unknown(plan: &Plan, collected: &Collected) -> Option<Warning> {
    let asked = &plan.questions;
    let is_it = |source: &DimensionSource| *source == DimensionSource::Response(Column::FinishReason);
    let number = asked.dimensions.iter().position(|dimension| is_it(&dimension.source))?;
    if asked.truncated != Some(Column::FinishReason) {
        return None;
    }
    let tallies = collected.questions.slices.get(number)?.values.values();
    let reasons = tallies.filter_map(|tally| Some((tally.text.as_deref()?, tally.responses)));
    let mut reasons: Vec<(&str, u64)> = reasons.filter(|(text, _)| is_unknown_ending(text)).collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let responses: u64 = reasons.iter().map(|(_, responses)| responses).sum();
    let mut named: Vec<String> =
        reasons.iter().take(NAMED).map(|(text, _)| format!("`{}`", short(text))).collect();
    if reasons.len() > NAMED {
        named.push(format!("{} others", reasons.len() - NAMED));
    }
    (responses > 0).then(|| Warning {
        code: WarningCode::IngestNote,
        message: format!(
            "`finish_reason` of {} responses is not understood ({}): whether they were cut is not known",
            grouped(responses),
            named.join(", ")
        ),
        hint: "log `truncated` of each response (true or false), or a reason with a word that is known: length, max, \
               limit, truncated (cut); stop, eos, end, done, tool (finished); abort, error, timeout (neither)"
            .into(),
        evidence: reasons
            .iter()
            .take(NAMED)
            .map(|(text, responses)| evidence(None, &short(text), *responses as f64))
            .collect(),
    })
}
