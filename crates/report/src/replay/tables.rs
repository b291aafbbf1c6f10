//! What unfolds: differences, updates, steps.

use maud::{Markup, html};

use super::series::arms_of;
use crate::page::{Kind, Section, Sheet, note};
use stapo_base::format::{grouped as count, none, number, number_or_dash, percent_or_dash};
use stapo_result::replay::ReplayResult;
use stapo_result::replay::{ArmResult, Difference};

/// Updates of an arm that are listed at most.
const UPDATES: usize = 60;

/// All tables, the differences open.
pub fn section(result: &ReplayResult) -> Section {
    let body = html! {
        @if !result.differences.is_empty() {
            details open {
                summary { "Differences, paired by seed" }
                (differences(result).html()) (note(&tests(result)))
            }
        }
        details {
            summary { "Updates of every arm" }
            @for arm in &result.arms { (updates(arm)) "\n" }
        }
        (steps(result))
    };
    Section { id: "tables", link: "Tables", heading: "Tables", body }
}

/// Every difference with its tests.
pub fn differences(result: &ReplayResult) -> Sheet {
    let columns =
        ["difference", "metric", "mean", "95 % interval", "p", "adjusted p", "signed-rank p", "supported"];
    let mut sheet = Sheet::new(&columns).with(Kind::Text, "metric");
    for d in &result.differences {
        sheet.push_marked(
            vec![
                format!("{} − {}", d.objective, d.baseline),
                d.metric.label().into(),
                mean(d),
                d.interval.map_or_else(none, |(low, high)| format!("{} to {}", number(low), number(high))),
                number_or_dash(d.p_value),
                number_or_dash(d.p_adjusted),
                number_or_dash(d.p_signed_rank),
                if d.supported { "yes" } else { "no" }.into(),
            ],
            d.supported,
        );
    }
    sheet.without_empty()
}

/// The mean; 0 where it is what rounding left of pairs that cancel.
fn mean(d: &Difference) -> String {
    let rounding = d.interval.map_or(0.0, |(low, high)| (high - low) * 1e-9);
    number(if d.mean.abs() < rounding { 0.0 } else { d.mean })
}

/// How the differences were tested.
fn tests(result: &ReplayResult) -> String {
    match result.differences.iter().map(|d| d.pairs).max().unwrap_or(0) {
        0 | 1 => "One pair: nothing can be tested.".into(),
        pairs => format!(
            "Shaded: supported. p is of a paired t-test over {pairs} pairs, adjusted for all rows (Holm). Wilcoxon’s signed-rank test of the same pairs cannot be below {}.",
            number(0.5_f64.powi(i32::try_from(pairs - 1).unwrap_or(i32::MAX)))
        ),
    }
}

fn updates(arm: &ArmResult) -> Markup {
    let mut sheet = Sheet::new(&[
        "update",
        "step",
        "tokens",
        "loss",
        "‖g‖",
        "‖g‖ of lm_head",
        "entropy",
        "entropy after",
        "mean ρ",
        "max ρ",
        "clipped",
        "KL to start",
        "candidates",
        "τₕ",
        "silenced",
        "kept",
        "amplified",
    ]);
    let stride = arm.updates.len().div_ceil(UPDATES).max(1);
    let maybe = |v: Option<u64>| v.map_or_else(none, count);
    for u in arm.updates.iter().step_by(stride) {
        sheet.push(vec![
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
        ]);
    }
    let every = match stride {
        1 => String::new(),
        n => format!("One of every {n} updates; all {} are in replay.json.", count(arm.updates.len() as u64)),
    };
    html! {
        details.table {
            summary {
                (arm.objective) ", seed " (arm.seed) " "
                span { @if let Some(stopped) = &arm.stopped { "stopped at update " (stopped.update) } }
            }
            (sheet.without_empty().html()) (note(&every))
        }
    }
}

fn steps(result: &ReplayResult) -> Markup {
    let names = result.summary.iter().map(|s| s.objective.to_string());
    let columns: Vec<String> = ["step", "responses"].map(String::from).into_iter().chain(names).collect();
    let mut sheet = Sheet::new(&columns);
    let first = result.arms.first().map_or(&[][..], |arm| &arm.steps);
    for (place, first) in first.iter().enumerate() {
        let mut cells = vec![first.step.to_string(), count(first.responses)];
        cells.extend(result.summary.iter().map(|s| drift(&arms_of(result, s.objective), place)));
        sheet.push(cells);
    }
    html! {
        @if !result.arms.is_empty() {
            details {
                summary { "Drift and old log-probabilities by step" }
                (sheet.html())
                (note("Mean |ln ρ| before the step’s first update, over seeds, and where old log-probabilities come from: the log, or the replayed policy at the step’s start (recompute)."))
            }
        }
    }
}

/// Mean drift of some seeds at a step, and their old policy.
fn drift(arms: &[&ArmResult], place: usize) -> String {
    let steps: Vec<_> = arms.iter().filter_map(|a| a.steps.get(place)).collect();
    let Some(first) = steps.first() else { return none() };
    let known: Vec<f64> = steps.iter().filter_map(|s| s.drift).collect();
    let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    let like_first = steps.iter().filter(|s| s.old == first.old).count();
    let old = if like_first == steps.len() {
        first.old.to_string()
    } else {
        format!("{} in {like_first} of {}", first.old, steps.len())
    };
    format!("{} ({old})", number_or_dash(mean))
}
