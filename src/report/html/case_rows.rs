//! Which flagged tokens the page shows, and the row of each.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::analyze::RunAnalysis;
use crate::analyze::result::{FlagKind, FlaggedToken};
use crate::report::numbers::number;
use crate::report::text::{escape_xml, token_gap, token_in_context, token_label};

/// Cases of every step that come first, so that each step has some.
const EACH_STEP: usize = 3;
/// No row is smaller than this many bytes.
const SMALLEST_ROW: usize = 250;
/// Characters of context on either side at most.
const CONTEXT: usize = 160;

/// A flagged token of the page.
pub struct CaseRow<'a> {
    /// The token.
    pub case: &'a FlaggedToken,
    /// Its table row.
    pub html: String,
}

/// The cases of the page, by step, then by rank.
#[derive(Default)]
pub struct Chosen<'a> {
    /// The rows; their place is the number in their `id`.
    pub rows: Vec<CaseRow<'a>>,
}

/// As many cases as fit: a few of every step, then by rank.
pub fn choose(analysis: &RunAnalysis, budget: usize) -> Chosen<'_> {
    let cases = &analysis.cases.top;
    let mut taken = vec![false; cases.len()];
    let mut per_step: HashMap<i64, usize> = HashMap::new();
    let (mut room, mut order) = (budget, Vec::new());
    for first in [true, false] {
        for (index, case) in cases.iter().enumerate() {
            if room < SMALLEST_ROW {
                break;
            }
            let seen = per_step.entry(case.step).or_default();
            if taken[index] || (first && *seen >= EACH_STEP) {
                continue;
            }
            let size = row(case, 0).len();
            if size > room {
                continue;
            }
            room -= size;
            taken[index] = true;
            *seen += 1;
            order.push(index);
        }
    }
    order.sort_by_key(|index| (cases[*index].step, *index));
    let rows = order.iter().enumerate();
    Chosen { rows: rows.map(|(id, i)| CaseRow { case: &cases[*i], html: row(&cases[*i], id) }).collect() }
}

/// The token of a case, as shown.
pub fn token(case: &FlaggedToken) -> String {
    match (&case.token, case.token_id) {
        (Some(text), _) => token_label(text),
        (None, Some(id)) => format!("id {id}"),
        (None, None) => "?".into(),
    }
}

/// Five levels of risk; every two nats beyond what the entropy explains.
pub fn risk_level(risk: f64) -> u8 {
    match risk {
        r if r < 2.0 => 1,
        r if r < 4.0 => 2,
        r if r < 6.0 => 3,
        r if r < 8.0 => 4,
        _ => 5,
    }
}

/// p, H, A, norm and ΔH in one line.
fn facts(case: &FlaggedToken) -> String {
    let measured = case.measured_change.map_or(String::new(), |m| format!(", measured {}", number(m)));
    format!(
        "p {} · H {} · A {} · ‖g‖ {} ({}) · ΔH/η {}…{}{measured}",
        number(case.logprob.exp()),
        number(case.entropy),
        number(case.advantage),
        number(case.grad_norm),
        case.norm_source,
        number(case.change_low),
        number(case.change_high)
    )
}

fn row(case: &FlaggedToken, id: usize) -> String {
    let kind = if case.kind == FlagKind::Spurious { "sp" } else { "ex" };
    let shown = escape_xml(&token(case));
    let mut html = format!(
        "<tr id=\"c{id}\" class=\"{kind}\"><td>{}<td><code>{shown}</code><td class=\"ctx\">",
        case.kind.name()
    );
    let gap = token_gap(case.before.iter().chain(&case.after));
    html.push_str(&context(&case.before, true, gap));
    html.push_str(gap);
    let inner = case.token.as_deref().map_or_else(|| shown.clone(), |t| escape_xml(&token_in_context(t)));
    let _ = write!(
        html,
        "<b class=\"r{}\" tabindex=\"0\" data-t=\"{}\">{inner}</b>",
        risk_level(case.risk),
        escape_xml(&facts(case))
    );
    html.push_str(gap);
    html.push_str(&context(&case.after, false, gap));
    let passes = match (case.group_passes, case.group_size) {
        (Some(passes), Some(size)) => format!("{passes}/{size}"),
        _ => "–".into(),
    };
    let change = (case.change_low + case.change_high) / 2.0;
    let _ = writeln!(
        html,
        "<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{passes}<td>{}",
        number(case.risk),
        number(case.logprob.exp()),
        number(case.entropy),
        number(case.tau_h),
        number(case.advantage),
        number(case.grad_norm),
        number(change),
        case.step,
        escape_xml(&case.group_id.as_deref().map_or_else(|| "–".into(), token_label)),
        case.position
    );
    html
}

/// The tokens around a case, the nearest [`CONTEXT`] characters of them.
fn context(tokens: &[String], before: bool, gap: &str) -> String {
    let shown: Vec<String> = tokens.iter().map(|t| token_in_context(t)).collect();
    let mut room = CONTEXT;
    let mut keep = |text: &&String| {
        let size = text.chars().count();
        let fits = size <= room;
        room = if fits { room - size } else { 0 };
        fits
    };
    let mut text = if before {
        let mut near: Vec<&String> = shown.iter().rev().take_while(|t| keep(t)).collect();
        near.reverse();
        near.into_iter().map(String::as_str).collect::<Vec<_>>().join(gap)
    } else {
        shown.iter().take_while(|t| keep(t)).map(String::as_str).collect::<Vec<_>>().join(gap)
    };
    if text.is_empty() && !tokens.is_empty() {
        text.push('…');
    }
    escape_xml(&text)
}
