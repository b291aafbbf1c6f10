//! `report.md`: the verdict and the tables, for a terminal or a pull request.

use std::fmt::Write as _;

use super::charts::Drawn;
use super::html::{statements, when, word};
use super::markdown_diagnosis;
use super::page::{Kind, Sheet};
use super::tables;
use super::text::{case_token, markdown_code, markdown_prose, prose, token_gap, token_label};
use stapo_base::format::words;
use stapo_base::format::{grouped as count, none, number, percent, percent_or_dash, times};
use stapo_result::RunAnalysis;
use stapo_result::{FlagKind, StepRow, Warning};

/// Rows of a table at most.
const STEPS: usize = 12;
const TOKENS: usize = 10;
const CASES: usize = 10;
const WARNINGS: usize = 12;

/// The report.
#[must_use]
pub fn render(analysis: &RunAnalysis, charts: &[Drawn]) -> String {
    let mut out = String::new();
    verdict(&mut out, analysis);
    markdown_diagnosis::write(&mut out, analysis);
    warnings(&mut out, &analysis.warnings);
    steps(&mut out, analysis);
    titled(&mut out, "Tokens silenced most", &tables::silenced_tokens(analysis, TOKENS));
    cases(&mut out, analysis);
    let columns = ["rule", "silenced", "damped", "amplified", "energy kept"];
    titled(&mut out, "Rules on the same tokens", &tables::rules(analysis).only(&columns));
    out.push_str("## What this report cannot know\n\n");
    for statement in statements(analysis) {
        let _ = writeln!(out, "- {}", markdown_prose(&statement));
    }
    out.push_str("\n## Files\n\n`report.html` has the charts, live thresholds and every case that fits; `summary.json` and `tables/*.parquet` the numbers.\n");
    list_charts(&mut out, charts);
    out
}

/// Lists the charts of a report, and those that the log holds no data for.
pub fn list_charts(out: &mut String, charts: &[Drawn]) {
    let names: Vec<_> = charts
        .iter()
        .filter_map(|c| c.as_ref().ok())
        .map(|c| format!("[{0}](charts/{0}.svg)", c.name))
        .collect();
    let _ = writeln!(out, "Charts (SVG, PNG, CSV): {}.", names.join(", "));
    for missing in charts.iter().filter_map(|c| c.as_ref().err()) {
        let _ = writeln!(out, "Left out: {}, which needs {}.", missing.title, missing.needs);
    }
}

fn verdict(out: &mut String, analysis: &RunAnalysis) {
    let v = &analysis.verdict;
    let word = word(v.state);
    let source = &analysis.totals.gradient_source;
    let _ = write!(
        out,
        "# {word}: {}\n\n{}\n\n| | |\n|---|---|\n| Spurious tokens | **{}** ({} of {}) |\n| Their share of the gradient energy | **{}** ({} of A > 0; norms {source}) |\n| Their mean gradient norm | **{}** the mean ({} of A > 0) |\n| When it went wrong | {} |\n",
        markdown_prose(&prose(&v.health)),
        markdown_prose(&prose(&v.spurious)),
        percent(v.fraction),
        count(analysis.s2t.silenced),
        count(analysis.totals.tokens),
        percent_or_dash(v.energy_share),
        percent_or_dash(analysis.s2t.positive_energy_share),
        v.mean_norm_ratio.map_or_else(none, times),
        analysis.s2t.mean_norm_ratio_positive.map_or_else(none, times),
        when(v)
    );
    if !v.top_tokens.is_empty() {
        let tokens: Vec<_> = v.top_tokens.iter().take(8).map(|t| markdown_code(&token_label(t))).collect();
        let _ = writeln!(out, "| Silenced most | {} |", tokens.join(" "));
    }
    out.push('\n');
}

/// Writes the warnings of a run.
pub fn warnings(out: &mut String, found: &[Warning]) {
    if found.is_empty() {
        return;
    }
    out.push_str("## Warnings\n\n");
    for w in found.iter().take(WARNINGS) {
        let name = words(w.code.name());
        let (message, hint) = (markdown_prose(&prose(&w.message)), markdown_prose(&prose(&w.hint)));
        let _ = writeln!(out, "- **{name}** {message}\n  - Next: {hint}");
    }
    if found.len() > WARNINGS {
        let _ = writeln!(out, "- {} more in `summary.json`", found.len() - WARNINGS);
    }
    out.push('\n');
}

fn steps(out: &mut String, analysis: &RunAnalysis) {
    let all: Vec<&StepRow> = analysis.steps.iter().collect();
    let shown = spread(&all, STEPS);
    out.push_str("## Steps\n\n");
    let columns =
        ["step", "tokens", "reward", "entropy", "candidates", "τₕ", "silenced", "ratio", "their energy"];
    tables::steps(&shown).only(&columns).markdown(out);
    if shown.len() < all.len() {
        let (shown, all) = (shown.len(), count(all.len() as u64));
        let _ = write!(out, "{shown} of {all} steps; all are in `tables/steps.parquet`.\n\n");
    }
}

/// First, last and evenly between.
pub fn spread<T: Copy>(items: &[T], limit: usize) -> Vec<T> {
    if items.len() <= limit {
        return items.to_vec();
    }
    (0..limit).map(|i| items[i * (items.len() - 1) / (limit - 1)]).collect()
}

fn titled(out: &mut String, title: &str, sheet: &Sheet) {
    if !sheet.is_empty() {
        let _ = write!(out, "## {title}\n\n");
        sheet.markdown(out);
    }
}

fn cases(out: &mut String, analysis: &RunAnalysis) {
    let columns = ["step", "token", "context", "p", "H", "A", "norm", "risk"];
    let mut sheet = Sheet::new(&columns).with(Kind::Code, "token").with(Kind::Code, "context");
    for c in analysis.cases.top.iter().filter(|c| c.kind == FlagKind::Spurious).take(CASES) {
        let token = case_token(c);
        let gap = if token_gap(c.before.iter().chain(&c.after)).is_empty() { "" } else { " " };
        let (before, after) = (c.before.join(gap), c.after.join(gap));
        let tail: String = before.chars().skip(before.chars().count().saturating_sub(28)).collect();
        let head: String = after.chars().take(20).collect();
        sheet.push([
            c.step.to_string(),
            token.clone(),
            prose(&format!("…{tail}{gap}[{}]{gap}{head}…", token.replace('␣', " "))),
            number(c.logprob.exp()),
            number(c.entropy),
            number(c.advantage),
            number(c.grad_norm),
            number(c.risk),
        ]);
    }
    titled(out, "Riskiest cases", &sheet);
    if !sheet.is_empty() {
        let total = analysis.cases.spurious + analysis.cases.exploratory;
        let _ = write!(out, "{} flagged tokens in all: `tables/flagged.parquet`.\n\n", count(total));
    }
}
