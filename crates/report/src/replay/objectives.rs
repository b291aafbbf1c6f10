//! The objectives side by side: what was trained, and what came of it.

use maud::html;

use super::series::arms_of;
use crate::page::{Kind, Section, Sheet, note};
use crate::text::prose;
use stapo_base::format::{amount, fixed, grouped as count, none, number, percent_or_dash};
use stapo_result::replay::{ArmTiming, ReplayResult};
use stapo_result::replay::{HoldoutMetrics, Metric, MetricSummary};

/// Decimals beyond which a metric is written in powers of ten.
const DECIMALS: i32 = 6;

/// A row for each objective, and its metrics.
pub fn section(result: &ReplayResult, timing: &[ArmTiming]) -> Section {
    let measured = match result.data.holdout_responses {
        0 => "Nothing is held out, so only gradient norms are known. The norm is the mean over all updates.",
        _ => "Gradient norm: mean over all updates. All else: the held-out responses under the final policy.",
    };
    let interval =
        if result.training.seeds > 1 { " ± is the half width of the 95 % interval over seeds." } else { "" };
    let body = html! {
        h3 { "What was trained" }
        (trained(result, timing).html())
        (note("Updates and silenced tokens are those of one seed (the mean where seeds differ). Names link to token logs, which `stapo-analyze` reads. Tokens/s: trained tokens a second, all measurements included."))
        h3 { "What came of it" }
        (outcome(result).html())
        (note(&format!("{measured}{interval}")))
    };
    Section { id: "arms", link: "Objectives", heading: "Objectives", body }
}

/// Rules, seeds, updates and silenced tokens.
pub fn trained(result: &ReplayResult, timing: &[ArmTiming]) -> Sheet {
    let columns = ["objective", "seeds", "updates", "silenced tokens", "share", "tokens/s", "rule"];
    let mut sheet = Sheet::new(&columns).with(Kind::Words, "rule");
    for summary in &result.summary {
        let arms = arms_of(result, summary.objective);
        let updates = arms.iter().map(|a| a.updates.len()).sum::<usize>() as f64;
        let speeds: Vec<f64> = (timing.iter())
            .filter(|t| t.objective == summary.objective)
            .filter_map(|t| t.tokens_per_second)
            .collect();
        let speed = speeds.iter().sum::<f64>() / speeds.len() as f64;
        let seeds = match summary.stopped {
            0 => count(summary.finished),
            n => format!("{} ({n} stopped)", count(summary.finished)),
        };
        sheet.push_linked(
            vec![
                summary.objective.to_string(),
                seeds,
                amount(updates / arms.len() as f64),
                summary.silenced.map_or_else(none, amount),
                percent_or_dash(summary.silenced_share),
                if speeds.is_empty() { none() } else { count(speed.round() as u64) },
                prose(&summary.rule).replace("τ_h", "τₕ"),
            ],
            arms.first().map_or("", |a| &a.token_log),
        );
    }
    sheet.without_empty()
}

/// The metrics at the end, with intervals; above them those of the start.
pub fn outcome(result: &ReplayResult) -> Sheet {
    let mut sheet = Sheet::new(&[
        "objective",
        "AUC",
        "ln π correct",
        "ln π wrong",
        "entropy",
        "KL to start",
        "gradient norm",
    ]);
    let columns = Metric::ALL.map(|metric| Column::new(result, metric));
    if let Some(start) = &result.start {
        let mut cells = vec!["before any update".to_owned()];
        cells.extend(columns.iter().map(|c| at_start(start, c.metric).map_or_else(none, |v| c.value(v))));
        sheet.push(cells);
    }
    for summary in &result.summary {
        let mut cells = vec![summary.objective.to_string()];
        cells.extend(columns.iter().map(|c| {
            let found = summary.metrics.iter().find(|m| m.metric == c.metric);
            found.map_or_else(none, |m| c.cell(m))
        }));
        sheet.push(cells);
    }
    sheet.without_empty()
}

/// A metric before any update.
pub fn at_start(start: &HoldoutMetrics, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Auc => start.auc,
        Metric::CorrectLogprob => start.correct_logprob,
        Metric::WrongLogprob => start.wrong_logprob,
        Metric::Entropy => Some(start.entropy),
        Metric::KlToStart => Some(start.kl_to_start),
        Metric::GradNorm => None,
    }
}

/// How a metric is written: with the same decimals in every row, so that rows can be compared.
struct Column {
    metric: Metric,
    /// `None` where rows are too far apart, or too small, for decimals.
    decimals: Option<usize>,
}

impl Column {
    /// Three digits of the smallest mean, two of the largest interval.
    fn new(result: &ReplayResult, metric: Metric) -> Self {
        let rows = result.summary.iter().flat_map(|s| &s.metrics).filter(|m| m.metric == metric);
        let (mut smallest, mut widest) = (f64::INFINITY, 0.0_f64);
        for row in rows {
            if row.mean != 0.0 {
                smallest = smallest.min(row.mean.abs());
            }
            widest = widest.max(row.interval.unwrap_or(0.0));
        }
        let needed = digits(smallest, 3).max(digits(widest, 2));
        Self { metric, decimals: usize::try_from(needed).ok().filter(|_| needed <= DECIMALS) }
    }

    fn value(&self, value: f64) -> String {
        match self.decimals {
            Some(decimals) if value != 0.0 => fixed(value, decimals),
            _ => number(value),
        }
    }

    fn cell(&self, m: &MetricSummary) -> String {
        match m.interval {
            Some(interval) => format!("{} ± {}", self.value(m.mean), self.value(interval)),
            None => self.value(m.mean),
        }
    }
}

/// Decimals that show so many digits of a number.
#[allow(clippy::cast_possible_truncation)]
fn digits(value: f64, shown: i32) -> i32 {
    let exponent = value.log10().floor();
    if exponent.is_finite() { (shown - 1 - exponent as i32).max(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_follow_the_size() {
        assert_eq!(digits(0.412, 3), 3);
        assert_eq!(digits(0.000_52, 2), 5);
        assert_eq!(digits(120.0, 3), 0);
        assert_eq!(digits(0.0, 3), 0);
        assert_eq!(digits(f64::INFINITY, 3), 0);
    }

    #[test]
    fn rows_of_a_metric_have_the_same_decimals() {
        let m = |mean, interval| MetricSummary { metric: Metric::Auc, mean, interval, values: Vec::new() };
        let column = Column { metric: Metric::Auc, decimals: Some(4) };
        assert_eq!(column.cell(&m(-0.412_34, Some(0.002))), "−0.4123 ± 0.0020");
        assert_eq!(column.cell(&m(0.5, Some(0.0))), "0.5000 ± 0");
        assert_eq!(column.cell(&m(0.5, None)), "0.5000");
        let tiny = Column { metric: Metric::KlToStart, decimals: None };
        assert_eq!(tiny.cell(&m(1.9e-8, None)), "1.90·10⁻⁸");
    }
}
