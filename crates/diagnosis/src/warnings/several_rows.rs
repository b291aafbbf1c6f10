//! Responses that have a row for each update that trains them, or for each of their turns.

use crate::numbers::evidence;
use stapo_base::format::grouped;
use stapo_collect::collect::rows::SeveralRows;
use stapo_result::{Warning, WarningCode};

/// What counts a response once, and what does not.
pub fn warning(several: &SeveralRows) -> Option<Warning> {
    let (of, hint) = match (several.again > 0, several.turns > 0) {
        (false, false) => return None,
        (true, false) => (
            "one for each update",
            "log a response once a step, or keep the rows of its first update, to have these numbers of responses",
        ),
        (false, true) => (
            "one for each turn",
            "log all turns of a response in one row, with `turn` by token, to have these numbers of responses",
        ),
        (true, true) => (
            "one for each update and turn",
            "log a response once a step and all its turns in one row, with `turn` by token, to have these numbers of \
             responses",
        ),
    };
    let (rows, responses) = (grouped(several.rows), grouped(several.responses));
    let message = match several.of_groups {
        1 => format!(
            "{rows} rows are of {responses} responses, {of}: groups, pass@k and length by outcome count a response \
             once; numbers of responses, mean rewards and lengths, cut responses, loops and causes count rows"
        ),
        groups => format!(
            "in one of every {} groups, drawn by a hash, {rows} rows are of {responses} responses, {of}: the log has too many \
             rows to count each response once, so all but length by outcome counts rows",
            grouped(groups)
        ),
    };
    Some(Warning {
        code: WarningCode::SeveralRows,
        message,
        hint: hint.into(),
        evidence: vec![
            evidence(None, "rows", several.rows as f64),
            evidence(None, "responses", several.responses as f64),
            evidence(None, "rows of another update", several.again as f64),
            evidence(None, "rows of a later turn", several.turns as f64),
        ],
    })
}
