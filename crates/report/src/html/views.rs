//! Which responses the page shows without scripts, and how much of each.

use std::ops::Range;

use stapo_result::RunAnalysis;
use stapo_result::{ResponseView, ShownFor};

/// Bytes that a token takes in the page, about.
const TOKEN_BYTES: usize = 110;
/// Tokens that a response is shown with at least.
const FEWEST: usize = 40;
/// Responses of each kind: the riskiest, and a spread of the others.
const SPREAD: [(ShownFor, usize); 5] = [
    (ShownFor::Risk, 4),
    (ShownFor::HighReward, 2),
    (ShownFor::LowReward, 3),
    (ShownFor::Truncated, 2),
    (ShownFor::Group, 1),
];

/// A response and the tokens of it that are shown.
pub type View<'a> = (&'a ResponseView, Range<usize>);

/// The responses of the page: some of every kind, of long ones the part around their flagged tokens.
pub fn choose(analysis: &RunAnalysis, budget: usize) -> Vec<View<'_>> {
    let spread = spread(&analysis.responses);
    let tokens = budget / TOKEN_BYTES;
    let shown = spread.len().min(tokens / FEWEST);
    let share = tokens / shown.max(1);
    spread.into_iter().take(shown).map(|view| (view, stretch(view, share))).collect()
}

/// At most so many tokens of a response: those around its first flagged one.
pub fn stretch(view: &ResponseView, limit: usize) -> Range<usize> {
    let length = view.texts.len().min(limit);
    let focus = view.flagged.first().map_or(0, |f| f.0 as usize);
    let start = focus.saturating_sub(length / 2).min(view.texts.len() - length);
    start..start + length
}

fn spread(responses: &[ResponseView]) -> Vec<&ResponseView> {
    let mut chosen: Vec<usize> = Vec::new();
    for (kind, count) in SPREAD {
        let of_kind = |(_, view): &(usize, &ResponseView)| view.shown_for.contains(&kind);
        let fresh: Vec<usize> = responses
            .iter()
            .enumerate()
            .filter(of_kind)
            .map(|r| r.0)
            .filter(|i| !chosen.contains(i))
            .collect();
        chosen.extend(fresh.into_iter().take(count));
    }
    chosen.into_iter().map(|i| &responses[i]).collect()
}
