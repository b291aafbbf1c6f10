//! The run as tables: steps, classes, rules, correlations.

use std::fmt::Write as _;

use crate::analyze::RunAnalysis;
use crate::analyze::result::ClassRow;
use crate::report::candidates::thinned;
use crate::report::numbers::{amount, count, number, number_or_dash, percent, percent_or_dash, times};
use crate::report::text::{escape_xml, prose};

/// Steps that are listed at most.
const STEPS: usize = 400;

/// Writes all tables.
pub fn write(out: &mut String, analysis: &RunAnalysis) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    steps(out, analysis);
    classes(out, analysis);
    rules(out, analysis);
    correlations(out, analysis);
    out.push_str("</section>\n");
}

/// Opens a table that unfolds; `text` columns are aligned to the left.
pub(in crate::report) fn open(out: &mut String, title: &str, file: &str, columns: &[&str]) {
    let _ = write!(
        out,
        "<details class=\"table\"><summary>{title}</summary><p class=\"files\"><a href=\"tables/{file}.parquet\">All numbers (Parquet)</a></p><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
    );
    for (index, column) in columns.iter().enumerate() {
        let _ =
            write!(out, "<th scope=\"col\"{}>{column}</th>", if index == 0 { "" } else { " class=\"n\"" });
    }
    out.push_str("</tr></thead><tbody>\n");
}

/// Writes a row; the first cell is its heading.
pub(in crate::report) fn row(out: &mut String, cells: &[String]) {
    out.push_str("<tr>");
    for (index, cell) in cells.iter().enumerate() {
        let _ =
            if index == 0 { write!(out, "<th scope=\"row\">{cell}</th>") } else { write!(out, "<td>{cell}") };
    }
    out.push('\n');
}

/// Ends a table.
pub(in crate::report) fn close(out: &mut String, note: &str) {
    out.push_str("</tbody></table></div>");
    if !note.is_empty() {
        let _ = write!(out, "<p class=\"note\">{note}</p>");
    }
    out.push_str("</details>\n");
}

fn steps(out: &mut String, analysis: &RunAnalysis) {
    let columns = [
        "step",
        "tokens",
        "responses",
        "reward",
        "entropy",
        "energy",
        "max ‖g‖",
        "candidates",
        "τ<sub>h</sub>",
        "silenced",
        "ratio",
        "their energy",
        "groups without advantage",
        "clipped",
    ];
    open(out, "Steps", "steps", &columns);
    let shown = thinned(&analysis.steps.iter().collect::<Vec<_>>(), STEPS);
    for s in &shown {
        let tau_h = match s.minibatches.len() {
            0 | 1 => number_or_dash(s.tau_h),
            n => format!("{n} batches"),
        };
        let dead = match (s.zero_advantage_groups, s.groups) {
            (Some(zero), Some(all)) => format!("{} of {}", count(zero), count(all)),
            _ => "–".into(),
        };
        row(
            out,
            &[
                s.step.to_string(),
                count(s.tokens),
                count(s.responses),
                number_or_dash(s.mean_reward),
                number_or_dash(s.mean_entropy),
                number(s.gradient_energy),
                number_or_dash(s.max_norm),
                count(s.candidates),
                tau_h,
                count(s.silenced),
                percent(s.silenced_ratio),
                percent_or_dash(s.spurious_energy_share),
                dead,
                percent_or_dash(s.clipped_share),
            ],
        );
    }
    let left_out = analysis.steps.len() - shown.len();
    close(
        out,
        &if left_out > 0 {
            format!("{} more steps are in the file.", count(left_out as u64))
        } else {
            String::new()
        },
    );
}

fn classes(out: &mut String, analysis: &RunAnalysis) {
    let columns = [
        "class",
        "tokens",
        "share",
        "energy",
        "mean ‖g‖",
        "interval",
        "× mean",
        "entropy up",
        "down",
        "open",
        "the paper: norm, entropy",
    ];
    open(out, "Classes of tokens", "taxonomy", &columns);
    for c in &analysis.taxonomy {
        row(
            out,
            &[
                escape_xml(&c.label),
                count(c.tokens),
                percent(c.token_share),
                percent_or_dash(c.energy_share),
                number_or_dash(c.mean_norm),
                interval(c),
                c.norm_ratio.map_or("–".into(), times),
                count(c.entropy_up),
                count(c.entropy_down),
                count(c.entropy_ambiguous),
                match (&c.paper_norm, &c.paper_entropy) {
                    (Some(norm), Some(entropy)) => format!("{}, {}", escape_xml(norm), escape_xml(entropy)),
                    _ => "–".into(),
                },
            ],
        );
    }
    close(
        out,
        "Up and down: tokens whose first-order effect on their own entropy is certain from p and H alone; open: not decided by them.",
    );
}

fn interval(class: &ClassRow) -> String {
    match (class.mean_norm_low, class.mean_norm_high) {
        (Some(low), Some(high)) if high > low => format!("{} to {}", number(low), number(high)),
        _ => "–".into(),
    }
}

fn rules(out: &mut String, analysis: &RunAnalysis) {
    if analysis.rules.is_empty() {
        return;
    }
    let columns = [
        "rule",
        "silenced",
        "damped",
        "amplified",
        "energy kept",
        "of A &gt; 0",
        "of A &lt; 0",
        "<span class=\"wide\">what it does</span>",
    ];
    open(out, "Rules on the same tokens", "rules", &columns);
    for r in &analysis.rules {
        let estimated =
            if r.exact { String::new() } else { format!(" ± {} (sampled)", percent(r.sampling_error)) };
        let note = r.note.as_deref().map_or(String::new(), |n| format!(" ({})", escape_xml(&prose(n))));
        row(
            out,
            &[
                escape_xml(&prose(&r.rule)),
                amount(r.silenced),
                amount(r.damped),
                amount(r.amplified),
                format!("{}{estimated}", percent_or_dash(r.energy_kept)),
                percent_or_dash(r.positive_energy_kept),
                percent_or_dash(r.negative_energy_kept),
                format!("<span class=\"wide\">{}{note}</span>", escape_xml(&prose(&r.description))),
            ],
        );
    }
    close(out, "Against the base objective of the log; energy kept is a share of its gradient energy.");
}

fn correlations(out: &mut String, analysis: &RunAnalysis) {
    if analysis.correlations.is_empty() {
        return;
    }
    out.push_str("<details class=\"table\"><summary>Correlations that the paper derives</summary><div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">between<th class=\"n\" scope=\"col\">Pearson<th class=\"n\" scope=\"col\">Spearman<th class=\"n\" scope=\"col\">tokens</tr></thead><tbody>\n");
    for c in &analysis.correlations {
        let sampled =
            if c.complete { String::new() } else { format!(" (sample, ± {})", number(c.sampling_error)) };
        row(
            out,
            &[
                format!("{} and {}", escape_xml(&prose(&c.x)), escape_xml(&prose(&c.y))),
                number_or_dash(c.pearson),
                number_or_dash(c.spearman),
                format!("{}{sampled}", count(c.tokens)),
            ],
        );
    }
    let change = &analysis.entropy_change;
    let total = change.certified_up + change.certified_down + change.ambiguous;
    let mut note = format!(
        "Of {} tokens with a gradient, {} are certain to raise their entropy, {} to lower it, {} are open.",
        count(total),
        count(change.certified_up),
        count(change.certified_down),
        count(change.ambiguous)
    );
    if let Some(measured) = &change.measured {
        let _ = write!(
            note,
            " Measured after the update: mean change {}, rank correlation with the prediction {}.",
            number_or_dash(measured.mean),
            number_or_dash(measured.spearman)
        );
    }
    close(out, &note);
}
