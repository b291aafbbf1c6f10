//! `compare.md`: the answer and the tables, for a terminal or a pull request.

use std::fmt::Write as _;

use super::{causes, metrics, shown_arms, tables};
use crate::charts::Drawn;
use crate::markdown::list_charts;
use crate::text::{markdown_prose, prose};
use stapo_base::format::number;
use stapo_base::format::words;
use stapo_compare::Comparison;
use stapo_compare::verdict::word;

/// Rows of small tables at most.
const ROWS: usize = 12;
/// Runs at most.
const RUNS: usize = 40;

fn safe(text: &str) -> String {
    markdown_prose(&prose(text))
}

/// The report.
#[must_use]
pub fn render(comparison: &Comparison, charts: &[Drawn]) -> String {
    let mut out = String::new();
    let verdict = &comparison.verdict;
    let _ = write!(out, "# {}: {}\n\n", word(verdict), safe(&verdict.headline));
    for sentence in &verdict.differences {
        let _ = writeln!(out, "- {}", safe(sentence));
    }
    if !verdict.differences.is_empty() {
        out.push('\n');
    }
    for sentence in verdict.alike.iter().chain([&verdict.scope]) {
        let _ = write!(out, "{}\n\n", safe(sentence));
    }
    warnings(&mut out, comparison);
    for arm in comparison.arms.iter().skip(1) {
        let _ = write!(out, "## {} against {}\n\n", safe(&arm.name), safe(&comparison.arms[0].name));
        metrics::sheet(comparison, &arm.name, |r| !metrics::is_folded(r) || r.significant).markdown(&mut out);
    }
    causes_and_answers(&mut out, comparison);
    out.push_str("## Stability of the entropy\n\n");
    tables::stability(comparison, RUNS).without_empty().markdown(&mut out);
    movers(&mut out, comparison);
    out.push_str("## How this was computed, and what it cannot know\n\n");
    for statement in &comparison.statements {
        let _ = writeln!(out, "- {}", safe(statement));
    }
    out.push_str("\n## Files\n\n`compare.html` has the charts; `compare.json` and `tables/compare_*.parquet` the numbers.\n");
    list_charts(&mut out, charts);
    out
}

fn causes_and_answers(out: &mut String, comparison: &Comparison) {
    if !comparison.causes.is_empty() {
        out.push_str("## Causes, arm by arm\n\n");
        causes::causes(comparison).markdown(out);
        if let Some(said) = shown_arms::left_out(comparison) {
            let _ = write!(out, "{said}\n\n");
        }
        let _ = write!(out, "{}\n\n", causes::MARKS);
        causes::found(comparison).markdown(out);
    }
    if !comparison.answers.is_empty() {
        let _ = write!(out, "## What drives the updates, side by side\n\n{}\n\n", causes::UNTESTED);
        causes::answers(comparison).markdown(out);
    }
}

fn warnings(out: &mut String, comparison: &Comparison) {
    if comparison.warnings.is_empty() {
        return;
    }
    out.push_str("## Warnings\n\n");
    for w in comparison.warnings.iter().take(ROWS) {
        let name = words(w.code.name());
        let _ = writeln!(out, "- **{name}** {}\n  - Next: {}", safe(&w.message), safe(&w.hint));
    }
    if comparison.warnings.len() > ROWS {
        let _ = writeln!(out, "- {} more in `compare.json`", comparison.warnings.len() - ROWS);
    }
    out.push('\n');
}

fn movers(out: &mut String, comparison: &Comparison) {
    for change in tables::distributions(comparison).filter(|c| !c.tokens.is_empty()) {
        let _ = write!(out, "## Tokens that moved most: {}\n\n", safe(&change.run));
        tables::movers(change, ROWS).markdown(out);
        let distances = [("vocabulary", &change.vocabulary), ("plane", &change.plane)];
        for (what, distance) in distances {
            if let Some(d) = distance {
                let _ = writeln!(
                    out,
                    "Jensen–Shannon distance over the {what}: {} (noise alone: {} in the middle, {} at the 95 % quantile).\n",
                    number(d.distance),
                    number(d.noise),
                    number(d.noise_high)
                );
            }
        }
    }
    let spurious = tables::spurious(comparison, ROWS);
    if !spurious.is_empty() {
        out.push_str("## Spurious tokens side by side\n\n");
        spurious.markdown(out);
    }
}
