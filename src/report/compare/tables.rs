//! The comparison as tables of the page.

use std::fmt::Write as _;

use super::html::safe;
use crate::compare::Comparison;
use crate::compare::result::MetricRow;
use crate::compare::verdict::{level, shown, shown_difference, shown_interval, shown_p};
use crate::report::html::tables::{close, open, row};
use crate::report::numbers::{count, none, number, number_or_dash, percent};
use crate::report::text::{escape_xml, token_label};

/// Arms that have a table at most.
const ARMS: usize = 12;

/// How a test is called.
pub fn test_name(row: &MetricRow) -> String {
    let name = match row.test.as_str() {
        "wilcoxon_signed_rank" => "Wilcoxon",
        "mann_whitney" => "Mann–Whitney",
        _ => return "no test".into(),
    };
    format!("{name}, {} {}", count(row.n), row.test_unit)
}

/// The metrics, open: they are what the page is for.
pub fn metrics(out: &mut String, comparison: &Comparison) {
    let confidence = level(comparison.settings.confidence);
    out.push_str("<section id=\"metrics\"><h2>Metrics</h2>\n");
    for arm in comparison.arms.iter().skip(1).take(ARMS) {
        let (base, name) = (safe(&comparison.arms[0].name), safe(&arm.name));
        let _ = writeln!(
            out,
            "<h3>{name} against {base}</h3><div class=\"scroll\" tabindex=\"0\"><table class=\"metrics\"><thead><tr><th scope=\"col\">metric</th><th scope=\"col\" class=\"n\">{base}</th><th scope=\"col\" class=\"n\">{name}</th><th scope=\"col\" class=\"n\">difference</th><th scope=\"col\" class=\"n\">{confidence} % interval</th><th scope=\"col\" class=\"n\">p</th><th scope=\"col\" class=\"n\">p corrected</th><th scope=\"col\" class=\"n\">effect</th><th scope=\"col\">test</th></tr></thead><tbody>",
        );
        for r in comparison.metrics.iter().filter(|r| r.run == arm.name && r.family != "classes") {
            metric(out, r);
        }
        out.push_str("</tbody></table></div>\n");
        classes(out, comparison, &arm.name);
    }
    if comparison.arms.len() > ARMS + 1 {
        let _ = write!(out, "<p>{} more runs are in the files below.</p>", comparison.arms.len() - ARMS - 1);
    }
    out.push_str("<p class=\"note\">Shaded: differs beyond noise. Differences of shares are in percentage points. Effect: Cliff’s delta, from −1 (always lower) to 1 (always higher), within pairs where they are paired. <span class=\"files\"><a href=\"tables/compare_metrics.parquet\">All numbers (Parquet)</a> <a href=\"compare.json\">compare.json</a></span></p></section>\n");
}

fn metric(out: &mut String, r: &MetricRow) {
    let sign = if r.significant { " class=\"yes\"" } else { "" };
    let mark = if r.significant { "≠ " } else { "" };
    let p = |p: Option<f64>| escape_xml(&p.map_or_else(none, shown_p));
    let _ = writeln!(
        out,
        "<tr{sign}><th scope=\"row\">{mark}{}</th><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
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

fn classes(out: &mut String, comparison: &Comparison, arm: &str) {
    let rows: Vec<&MetricRow> =
        comparison.metrics.iter().filter(|r| r.run == arm && r.family == "classes").collect();
    if rows.is_empty() {
        return;
    }
    let differing = rows.iter().filter(|r| r.significant).count();
    let _ = writeln!(
        out,
        "<details><summary>Shares of the classes of tokens <span>{differing} of {} differ beyond noise</span></summary><div class=\"scroll\" tabindex=\"0\"><table class=\"metrics\"><tbody>",
        rows.len()
    );
    rows.iter().for_each(|r| metric(out, r));
    out.push_str("</tbody></table></div></details>\n");
}

/// The other tables, folded.
pub fn write(out: &mut String, comparison: &Comparison) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    stability(out, comparison);
    runs(out, comparison);
    for change in comparison.distributions.iter().take(ARMS) {
        let columns = ["token", "baseline", "run", "difference (points)", "interval"];
        open(out, &format!("Tokens that moved most: {}", safe(&change.run)), "compare_tokens", &columns);
        for t in &change.tokens {
            let name = t.token.as_deref().map_or_else(|| format!("id {}", t.token_id), token_label);
            row(
                out,
                &[
                    format!("<code>{}</code>", escape_xml(&name)),
                    percent(t.baseline),
                    percent(t.other),
                    number(t.difference * 100.0),
                    interval(t.ci_low, t.ci_high),
                ],
            );
        }
        close(out, "Intervals from random groups of prompts, not corrected for picking the largest.");
        let columns = ["probability, entropy", "baseline", "run", "difference (points)", "interval"];
        open(
            out,
            &format!("Regions of the plane that moved most: {}", safe(&change.run)),
            "compare_regions",
            &columns,
        );
        for r in &change.regions {
            let place = format!(
                "p {} to {}, H {} to {}",
                number(10_f64.powf(r.log10_prob[0])),
                number(10_f64.powf(r.log10_prob[1])),
                number(r.entropy[0]),
                number(r.entropy[1])
            );
            row(
                out,
                &[
                    place,
                    percent(r.baseline),
                    percent(r.other),
                    number(r.difference * 100.0),
                    interval(r.ci_low, r.ci_high),
                ],
            );
        }
        close(out, "");
    }
    spurious(out, comparison);
    out.push_str("</section>\n");
}

fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", number(low * 100.0), number(high * 100.0))
}

fn stability(out: &mut String, comparison: &Comparison) {
    let columns = [
        "run",
        "first H",
        "last H",
        "spread",
        "largest fall",
        "largest rise",
        "slope / 100 steps",
        "collapsed from",
        "late reward",
    ];
    open(out, "Stability of the entropy", "compare_runs", &columns);
    for run in comparison.runs.iter().take(200) {
        let s = &run.stability;
        row(
            out,
            &[
                safe(&run.name),
                number_or_dash(s.first_entropy),
                number_or_dash(s.last_entropy),
                number_or_dash(s.spread),
                number_or_dash(s.drawdown),
                number_or_dash(s.run_up),
                number_or_dash(s.slope_per_100_steps),
                s.collapse_step.map_or("–".into(), |step| format!("step {step}")),
                number_or_dash(s.late_reward),
            ],
        );
    }
    close(
        out,
        "In nats, of the mean entropy of the logged steps. Spread: each step against the line through its neighbours. Slope: median of the slopes of all pairs of steps. Collapsed: below 15 % of the beginning or 0.01 nats, and staying there.",
    );
}

fn runs(out: &mut String, comparison: &Comparison) {
    let columns = ["run", "arm", "steps", "tokens", "responses", "groups", "silenced", "own warnings"];
    open(out, "Runs", "compare_runs", &columns);
    for run in comparison.runs.iter().take(200) {
        let steps = match (run.first_step, run.last_step) {
            (Some(first), Some(last)) => format!("{} ({first} to {last})", count(run.steps)),
            _ => "0".into(),
        };
        let warnings = run.warnings.join(", ").replace('_', " ");
        row(
            out,
            &[
                safe(&run.name),
                safe(&run.arm),
                steps,
                count(run.tokens),
                count(run.responses),
                run.groups.map_or("–".into(), count),
                count(run.silenced),
                if warnings.is_empty() { "none".into() } else { safe(&warnings) },
            ],
        );
    }
    close(out, "");
}

fn spurious(out: &mut String, comparison: &Comparison) {
    if comparison.spurious_vocabulary.is_empty() {
        return;
    }
    let names: Vec<String> = comparison.arms.iter().take(ARMS).map(|arm| safe(&arm.name)).collect();
    let mut columns = vec!["token"];
    columns.extend(names.iter().map(String::as_str));
    open(out, "Spurious tokens side by side", "compare_spurious", &columns);
    for t in &comparison.spurious_vocabulary {
        let name = t.token.as_deref().map_or_else(|| format!("id {}", t.token_id), token_label);
        let mut cells = vec![format!("<code>{}</code>", escape_xml(&name))];
        for arm in 0..names.len() {
            cells.push(format!("{} of {}", count(t.silenced[arm]), count(t.occurrences[arm])));
        }
        row(out, &cells);
    }
    close(out, "Silenced occurrences of all occurrences.");
}
