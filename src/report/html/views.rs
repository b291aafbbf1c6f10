//! Which responses the page shows, and how much of each.

use std::ops::Range;

use crate::analyze::RunAnalysis;
use crate::analyze::result::ResponseView;

/// Bytes that a token takes in the page, about.
const TOKEN_BYTES: usize = 110;

/// A response and the tokens of it that are shown.
pub type View<'a> = (&'a ResponseView, Range<usize>);

/// The responses of the page: the riskiest, of long ones the part around their flagged tokens.
pub fn choose(analysis: &RunAnalysis, budget: usize) -> Vec<View<'_>> {
    let tokens = budget / TOKEN_BYTES;
    let shown = analysis.responses.len().min(tokens / 40);
    let share = tokens / shown.max(1);
    let mut spare = tokens;
    let mut views = Vec::new();
    for view in analysis.responses.iter().take(shown) {
        let limit = share.min(spare);
        let length = view.texts.len().min(limit);
        let focus = view.flagged.first().map_or(0, |f| f.0 as usize);
        let start = focus.saturating_sub(length / 2).min(view.texts.len() - length);
        spare -= length;
        views.push((view, start..start + length));
    }
    views
}
