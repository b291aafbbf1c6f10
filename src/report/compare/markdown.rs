//! `compare.md`: the answer and the tables, for a terminal or a pull request.

use std::fmt::Write as _;

use super::tables::test_name;
use crate::compare::Comparison;
use crate::compare::verdict::{shown, shown_difference, shown_interval, shown_p};
use crate::report::charts::Drawn;
use crate::report::markdown::list_charts;
use crate::report::numbers::{count, none, number, number_or_dash, percent};
use crate::report::text::{markdown_code, markdown_prose, prose, token_label};

/// Rows of small tables at most.
const ROWS: usize = 12;

fn safe(text: &str) -> String {
    markdown_prose(&prose(text))
}

/// The report.
#[must_use]
pub fn render(comparison: &Comparison, charts: &[Drawn]) -> String {
    let mut out = String::new();
    let verdict = &comparison.verdict;
    let word = if verdict.differs { "Differs beyond noise" } else { "No difference beyond noise" };
    let _ = write!(out, "# {word}: {}\n\n", safe(&verdict.headline));
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
    metrics(&mut out, comparison);
    stability(&mut out, comparison);
    movers(&mut out, comparison);
    out.push_str("## How this was computed, and what it cannot know\n\n");
    for statement in &comparison.statements {
        let _ = writeln!(out, "- {}", safe(statement));
    }
    out.push_str("\n## Files\n\n`compare.html` has the charts; `compare.json` and `tables/compare_*.parquet` the numbers.\n");
    list_charts(&mut out, charts);
    out
}

fn warnings(out: &mut String, comparison: &Comparison) {
    if comparison.warnings.is_empty() {
        return;
    }
    out.push_str("## Warnings\n\n");
    for w in comparison.warnings.iter().take(ROWS) {
        let name = w.code.name().replace('_', " ");
        let _ = writeln!(out, "- **{name}** {}\n  - Next: {}", safe(&w.message), safe(&w.hint));
    }
    if comparison.warnings.len() > ROWS {
        let _ = writeln!(out, "- {} more in `compare.json`", comparison.warnings.len() - ROWS);
    }
    out.push('\n');
}

fn metrics(out: &mut String, comparison: &Comparison) {
    for arm in comparison.arms.iter().skip(1) {
        let (base, name) = (safe(&comparison.arms[0].name), safe(&arm.name));
        let _ = write!(
            out,
            "## {name} against {base}\n\n| metric | {base} | {name} | difference | interval | p | p corrected | effect | test |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n"
        );
        let shown_rows = comparison
            .metrics
            .iter()
            .filter(|r| r.run == arm.name && (r.family != "classes" || r.significant));
        for r in shown_rows {
            let bold = if r.significant { "**" } else { "" };
            let p = |p: Option<f64>| markdown_prose(&p.map_or_else(none, shown_p));
            let _ = writeln!(
                out,
                "| {bold}{}{bold} | {} | {} | {bold}{}{bold} | {} | {} | {} | {} | {} |",
                safe(&r.label),
                shown(r, r.baseline),
                shown(r, r.other),
                shown_difference(r, r.difference),
                shown_interval(r).unwrap_or_else(none),
                p(r.p_value),
                p(r.p_adjusted),
                number_or_dash(r.effect),
                test_name(r)
            );
        }
        out.push('\n');
    }
}

fn stability(out: &mut String, comparison: &Comparison) {
    out.push_str("## Stability of the entropy\n\n| run | first | last | spread | largest fall | largest rise | slope / 100 steps | late reward |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for run in comparison.runs.iter().take(40) {
        let s = &run.stability;
        let values = [
            s.first_entropy,
            s.last_entropy,
            s.spread,
            s.drawdown,
            s.run_up,
            s.slope_per_100_steps,
            s.late_reward,
        ];
        let cells: Vec<String> = values.into_iter().map(number_or_dash).collect();
        let _ = writeln!(out, "| {} | {} |", safe(&run.name), cells.join(" | "));
    }
    out.push('\n');
}

fn movers(out: &mut String, comparison: &Comparison) {
    for change in comparison.distributions.iter().filter(|c| !c.tokens.is_empty()) {
        let _ = write!(
            out,
            "## Tokens that moved most: {}\n\n| token | baseline | run | difference (points) | interval |\n|---|---:|---:|---:|---:|\n",
            safe(&change.run)
        );
        for t in change.tokens.iter().take(ROWS) {
            let name = t.token.as_deref().map_or_else(|| format!("id {}", t.token_id), token_label);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} to {} |",
                markdown_code(&name),
                percent(t.baseline),
                percent(t.other),
                number(t.difference * 100.0),
                number(t.ci_low * 100.0),
                number(t.ci_high * 100.0)
            );
        }
        let distances = [("vocabulary", &change.vocabulary), ("plane", &change.plane)];
        for (what, distance) in distances {
            if let Some(d) = distance {
                let _ = writeln!(
                    out,
                    "\nJensen–Shannon distance over the {what}: {} (noise alone: {} in the middle, {} at the 95 % quantile).",
                    number(d.distance),
                    number(d.noise),
                    number(d.noise_high)
                );
            }
        }
        out.push('\n');
    }
    if !comparison.spurious_vocabulary.is_empty() {
        let names: Vec<String> = comparison.arms.iter().map(|arm| safe(&arm.name)).collect();
        let _ = write!(
            out,
            "## Spurious tokens side by side\n\n| token | {} |\n|---|{}\n",
            names.join(" | "),
            "---:|".repeat(names.len())
        );
        for t in comparison.spurious_vocabulary.iter().take(ROWS) {
            let name = t.token.as_deref().map_or_else(|| format!("id {}", t.token_id), token_label);
            let counts: Vec<String> = t.silenced.iter().map(|n| count(*n)).collect();
            let _ = writeln!(out, "| {} | {} |", markdown_code(&name), counts.join(" | "));
        }
        out.push('\n');
    }
}
