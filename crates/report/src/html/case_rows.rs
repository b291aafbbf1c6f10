//! Which flagged tokens the page shows, and the row of each.

use std::collections::HashMap;

use maud::{Markup, html};

use crate::text::{case_token, in_order, token_gap, token_in_context, token_label};
use stapo_base::format::{none, number};
use stapo_result::RunAnalysis;
use stapo_result::{FlagKind, FlaggedToken};

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
    pub html: Markup,
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
    let (mut room, mut chosen) = (budget, Vec::new());
    for first in [true, false] {
        for (index, case) in cases.iter().enumerate() {
            if room < SMALLEST_ROW {
                break;
            }
            let seen = per_step.entry(case.step).or_default();
            if taken[index] || (first && *seen >= EACH_STEP) {
                continue;
            }
            let cells = cells(case);
            let size = row(case, 0, &cells).0.len();
            if size > room {
                continue;
            }
            room -= size;
            taken[index] = true;
            *seen += 1;
            chosen.push((index, cells));
        }
    }
    chosen.sort_by_key(|(index, _)| (cases[*index].step, *index));
    let rows = chosen.iter().enumerate().map(|(id, (index, cells))| {
        let case = &cases[*index];
        CaseRow { case, html: row(case, id, cells) }
    });
    Chosen { rows: rows.collect() }
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

fn row(case: &FlaggedToken, id: usize, cells: &Markup) -> Markup {
    let kind = if case.kind == FlagKind::Spurious { "sp" } else { "ex" };
    html! {
        tr id={ "c" (id) } class=(kind) { (cells) }
        "\n"
    }
}

fn cells(case: &FlaggedToken) -> Markup {
    let shown = case_token(case);
    let gap = token_gap(case.before.iter().chain(&case.after));
    let inner = case.token.as_deref().map_or_else(|| shown.clone(), token_in_context);
    let passes = match (case.group_passes, case.group_size) {
        (Some(passes), Some(size)) => format!("{passes}/{size}"),
        _ => none(),
    };
    let values = [
        number(case.risk),
        number(case.logprob.exp()),
        number(case.entropy),
        number(case.tau_h),
        number(case.advantage),
        number(case.grad_norm),
        number((case.change_low + case.change_high) / 2.0),
        case.step.to_string(),
        case.group_id.as_deref().map_or_else(none, token_label),
        passes,
        case.position.to_string(),
    ];
    html! {
        td { (case.kind.name()) }
        td { code { (shown) } }
        td.ctx {
            (before(&case.before, gap)) (gap)
            b class={ "r" (risk_level(case.risk)) } tabindex="0" data-t=(facts(case)) { (inner) }
            (gap) (after(&case.after, gap))
        }
        @for value in &values { td { (value) } }
    }
}

/// The tokens before a case, the nearest [`CONTEXT`] characters of them.
fn before(tokens: &[String], gap: &str) -> String {
    let mut near = nearest(tokens.iter().rev());
    near.reverse();
    joined(&near, tokens, gap)
}

/// The tokens after a case.
fn after(tokens: &[String], gap: &str) -> String {
    joined(&nearest(tokens.iter()), tokens, gap)
}

fn nearest<'a>(tokens: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut room = CONTEXT;
    let fits = |text: &String| {
        let left = room.checked_sub(text.chars().count());
        room = left.unwrap_or(0);
        left.is_some()
    };
    tokens.map(|t| token_in_context(t)).take_while(fits).collect()
}

fn joined(near: &[String], tokens: &[String], gap: &str) -> String {
    if near.is_empty() && !tokens.is_empty() { "…".into() } else { in_order(near, gap) }
}
