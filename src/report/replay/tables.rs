//! The replay as tables: objectives, differences, updates, steps.

use std::fmt::Write as _;

use super::series::visits;
use crate::replay::result::{ArmSummary, Difference, Metric};
use crate::replay::{ArmTiming, ReplayResult};
use crate::report::numbers::{amount, count, none, number, number_or_dash, percent_or_dash};
use crate::report::text::{escape_xml, prose};

/// Updates of an arm that are listed at most.
const UPDATES: usize = 60;

fn open(out: &mut String, columns: &[&str]) {
    out.push_str("<div class=\"scroll table\" tabindex=\"0\"><table><thead><tr>");
    for (index, column) in columns.iter().enumerate() {
        let class = if index == 0 { "" } else { " class=\"n\"" };
        let _ = write!(out, "<th scope=\"col\"{class}>{column}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
}

fn row(out: &mut String, cells: &[String]) {
    out.push_str("<tr>");
    for (index, cell) in cells.iter().enumerate() {
        let _ =
            if index == 0 { write!(out, "<th scope=\"row\">{cell}</th>") } else { write!(out, "<td>{cell}") };
    }
    out.push('\n');
}

fn close(out: &mut String, note: &str) {
    out.push_str("</tbody></table></div>\n");
    if !note.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{note}</p>");
    }
}

/// A metric of an objective with its interval.
pub fn cell(summary: &ArmSummary, metric: Metric) -> String {
    let found = summary.metrics.iter().find(|m| m.metric == metric);
    found.map_or_else(none, |m| match m.interval {
        Some(interval) => format!("{} ± {}", number(m.mean), number(interval)),
        None => number(m.mean),
    })
}

/// The objectives side by side.
pub fn arms(out: &mut String, result: &ReplayResult, timing: &[ArmTiming]) {
    out.push_str("<section id=\"arms\"><h2>Objectives</h2>\n");
    let columns = [
        "objective",
        "seeds",
        "updates",
        "silenced",
        "AUC",
        "ln π correct",
        "ln π wrong",
        "entropy",
        "KL to start",
        "gradient norm",
        "tokens/s",
    ];
    open(out, &columns);
    if let Some(start) = &result.start {
        let mut cells = vec!["<i>start</i>".to_owned(), none(), "0".into(), none()];
        cells.extend([start.auc, start.correct_logprob, start.wrong_logprob].map(number_or_dash));
        cells.extend([number(start.entropy), "0".into(), none(), none()]);
        row(out, &cells);
    }
    for summary in &result.summary {
        let arms: Vec<_> = result.arms.iter().filter(|a| a.objective == summary.objective).collect();
        let speeds: Vec<f64> = (timing.iter())
            .filter(|t| t.objective == summary.objective)
            .filter_map(|t| t.tokens_per_second)
            .collect();
        let speed = speeds.iter().sum::<f64>() / speeds.len() as f64;
        let seeds = match summary.stopped {
            0 => count(summary.finished),
            n => format!("{} ({n} stopped)", count(summary.finished)),
        };
        let silenced = summary
            .silenced
            .map_or_else(none, |n| format!("{} ({})", amount(n), percent_or_dash(summary.silenced_share)));
        let mut cells = vec![
            format!(
                "<a href=\"{}\">{}</a>",
                arms.first().map_or("", |a| &a.token_log),
                escape_xml(&summary.objective)
            ),
            seeds,
            count(arms.first().map_or(0, |a| a.updates.len() as u64)),
            silenced,
        ];
        cells.extend(Metric::ALL.map(|metric| cell(summary, metric)));
        cells.push(if speeds.is_empty() { none() } else { count(speed.round() as u64) });
        row(out, &cells);
    }
    let interval =
        if result.training.seeds > 1 { "± is the half width of the 95 % interval over seeds. " } else { "" };
    close(
        out,
        &format!(
            "{interval}AUC, ln π and entropy are of the held-out responses at the end. The names link to the token logs, which <code>stapo-analyze</code> reads. Speed is of this start, with all measurements."
        ),
    );
    out.push_str("<dl class=\"facts\">\n");
    for summary in &result.summary {
        let (name, rule) = (escape_xml(&summary.objective), escape_xml(&prose(&summary.rule)));
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{rule}</dd></div>");
    }
    out.push_str("</dl></section>\n");
}

/// What unfolds.
pub fn details(out: &mut String, result: &ReplayResult) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    differences(out, result);
    updates(out, result);
    steps(out, result);
    out.push_str("</section>\n");
}

/// A difference's sign and interval, in one cell.
pub fn interval(d: &Difference) -> String {
    match d.interval {
        Some((low, high)) => format!("{} to {}", number(low), number(high)),
        None => none(),
    }
}

fn differences(out: &mut String, result: &ReplayResult) {
    if result.differences.is_empty() {
        return;
    }
    out.push_str("<details open><summary>Differences, paired by seed</summary>\n");
    open(out, &["difference", "mean", "95 % interval", "p", "adjusted", "signed rank", "supported"]);
    for d in &result.differences {
        row(
            out,
            &[
                format!("{} − {}: {}", escape_xml(&d.objective), escape_xml(&d.baseline), d.metric.label()),
                number(d.mean),
                interval(d),
                number_or_dash(d.p_value),
                number_or_dash(d.p_adjusted),
                number_or_dash(d.p_signed_rank),
                if d.supported { "<b>yes</b>" } else { "no" }.into(),
            ],
        );
    }
    let pairs = result.differences.iter().map(|d| d.pairs).max().unwrap_or(0);
    close(
        out,
        &format!(
            "{pairs} {}; p of a paired t-test, adjusted for all rows (Holm); beside it Wilcoxon’s signed-rank test, which cannot be below 0.0625 with five seeds.",
            if pairs == 1 { "pair: nothing can be tested" } else { "pairs" }
        ),
    );
    out.push_str("</details>\n");
}

fn updates(out: &mut String, result: &ReplayResult) {
    out.push_str("<details><summary>Updates of every arm</summary>\n");
    for arm in &result.arms {
        let all = visits(arm);
        let stride = all.len().div_ceil(UPDATES).max(1);
        let _ = writeln!(
            out,
            "<details class=\"table\"><summary>Updates of {}, seed {} <span>{}</span></summary>",
            escape_xml(&arm.objective),
            arm.seed,
            arm.stopped.as_ref().map_or_else(String::new, |s| format!("stopped at update {}", s.update))
        );
        open(
            out,
            &[
                "update",
                "step",
                "tokens",
                "loss",
                "‖g‖",
                "‖g‖ of lm_head",
                "entropy",
                "after",
                "mean ρ",
                "max ρ",
                "clipped",
                "KL",
                "candidates",
                "τ<sub>h</sub>",
                "silenced",
                "kept",
                "amplified",
            ],
        );
        for u in all.iter().step_by(stride) {
            let maybe = |v: Option<u64>| v.map_or_else(none, count);
            row(
                out,
                &[
                    format!("{}{}", u.update, if u.dropped { " (dropped)" } else { "" }),
                    u.step.to_string(),
                    count(u.tokens),
                    number(u.loss),
                    number(u.grad_norm),
                    number(u.lm_head_grad_norm),
                    number(u.mean_entropy),
                    number_or_dash(u.mean_entropy_after),
                    format!("{:.4}", u.mean_ratio),
                    number(u.max_ratio),
                    percent_or_dash(u.clip_share),
                    number(u.kl_to_start),
                    maybe(u.counts.candidates),
                    number_or_dash(u.counts.tau_h),
                    maybe(u.counts.silenced),
                    maybe(u.counts.kept),
                    maybe(u.counts.amplified),
                ],
            );
        }
        let shown = all.iter().step_by(stride).count();
        let note = if shown < arm.updates.len() {
            format!("{shown} of {} updates; all are in replay.json.", count(arm.updates.len() as u64))
        } else {
            String::new()
        };
        close(out, &note);
        out.push_str("</details>\n");
    }
    out.push_str("</details>\n");
}

fn steps(out: &mut String, result: &ReplayResult) {
    let Some(arm) = result.arms.first() else { return };
    out.push_str("<details><summary>Drift and old log-probabilities by step</summary>\n");
    let names: Vec<String> = result
        .arms
        .iter()
        .map(|a| {
            format!(
                "{}{}",
                escape_xml(&a.objective),
                if a.seed > 1 { format!(", seed {}", a.seed) } else { String::new() }
            )
        })
        .collect();
    let mut columns = vec!["step", "responses"];
    columns.extend(names.iter().map(String::as_str));
    open(out, &columns);
    for (place, first) in arm.steps.iter().enumerate() {
        let mut cells = vec![first.step.to_string(), count(first.responses)];
        cells.extend(result.arms.iter().map(|a| {
            a.steps.get(place).map_or_else(none, |s| format!("{} ({})", number_or_dash(s.drift), s.old))
        }));
        row(out, &cells);
    }
    close(
        out,
        "Mean |ln ρ| before the step’s first update, and where old log-probabilities come from: the log, or the replayed policy at the step’s start (recompute).",
    );
    out.push_str("</details>\n");
}
