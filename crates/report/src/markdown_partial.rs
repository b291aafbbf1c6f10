//! `report.md` of a run without entropy or advantages.

use std::fmt::Write as _;

use super::charts::Drawn;
use super::html::{partial_statements, partial_when, partial_word};
use super::markdown::{list_charts, spread, warnings};
use super::markdown_diagnosis;
use super::tables;
use super::text::{markdown_prose, prose};
use stapo_base::format::{grouped as count, none, number_or_dash};
use stapo_result::PartialAnalysis;
use stapo_result::PartialStep;

/// Rows of a table at most.
const STEPS: usize = 12;

/// The report.
#[must_use]
pub fn render(analysis: &PartialAnalysis, charts: &[Drawn]) -> String {
    let mut out = String::new();
    let (verdict, totals) = (&analysis.verdict, &analysis.totals);
    let dead = totals.zero_advantage_groups.zip(totals.groups);
    let _ = write!(
        out,
        "# {}: {}\n\nTo have the rest: {}.\n\n| | |\n|---|---|\n| Tokens | **{}** in {} responses |\n| Mean reward | **{}** |\n| Trained tokens a response | **{}** |\n| Groups without any advantage | {} |\n| When it went wrong | {} |\n\n",
        partial_word(analysis),
        markdown_prose(&prose(&verdict.health)),
        markdown_prose(&prose(&analysis.partial.hint)),
        count(totals.tokens),
        count(totals.responses),
        number_or_dash(totals.mean_reward),
        number_or_dash(totals.mean_length),
        dead.map_or_else(none, |(dead, all)| format!("{} of {}", count(dead), count(all))),
        partial_when(verdict),
    );
    markdown_diagnosis::findings(&mut out, &analysis.diagnosis);
    warnings(&mut out, &analysis.warnings);
    let all: Vec<&PartialStep> = analysis.steps.iter().collect();
    let shown = spread(&all, STEPS);
    out.push_str("## Steps\n\n");
    tables::partial_steps(&shown).markdown(&mut out);
    if shown.len() < all.len() {
        let (shown, all) = (shown.len(), count(all.len() as u64));
        let _ = write!(out, "{shown} of {all} steps; all are in `tables/steps.parquet`.\n\n");
    }
    out.push_str("## What this report cannot know\n\n");
    for statement in partial_statements(analysis) {
        let _ = writeln!(out, "- {}", markdown_prose(&statement));
    }
    out.push_str("\n## Files\n\n`report.html` has the charts and the answers; `summary.json` and `tables/*.parquet` the numbers.\n");
    list_charts(&mut out, charts);
    out
}
