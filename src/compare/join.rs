//! Trainer scalars beside ours: the same statistics, one value a step.

use std::collections::BTreeMap;

use super::align::Alignment;
use super::judge::step_metric;
use super::quantities::{Fraction, value};
use super::result::{Arm, MetricRow, Series};
use super::settings::CompareSettings;
use super::trainer::Trainer;
use crate::stats::bootstrap::welch_interval;
use crate::stats::effect;
use crate::stats::mann_whitney::rank_sum;

/// The scalars of the runs that are compared.
pub fn series(trainer: &Trainer, arms: &[Arm]) -> Vec<Series> {
    let mut all = Vec::new();
    for metric in &trainer.metrics {
        for run in arms.iter().flat_map(|arm| &arm.runs) {
            if let Some(points) = trainer.values[metric].get(run).filter(|points| !points.is_empty()) {
                let points = points.iter().map(|(step, value)| (*step, *value)).collect();
                all.push(Series { run: run.clone(), metric: metric.clone(), points });
            }
        }
    }
    all
}

/// One row for every scalar that both arms have.
pub fn rows(trainer: &Trainer, arms: [&Arm; 2], settings: &CompareSettings) -> Vec<MetricRow> {
    trainer.metrics.iter().filter_map(|metric| row(trainer, metric, arms, settings)).collect()
}

fn row(trainer: &Trainer, metric: &str, arms: [&Arm; 2], settings: &CompareSettings) -> Option<MetricRow> {
    let by_run = &trainer.values[metric];
    // Runs of one arm are averaged at each step.
    let sides = arms.map(|arm| {
        let mut steps: BTreeMap<i64, Fraction> = BTreeMap::new();
        for (step, value) in arm.runs.iter().filter_map(|run| by_run.get(run)).flatten() {
            let sum = steps.entry(*step).or_default();
            *sum = [sum[0] + value, sum[1] + 1.0];
        }
        steps.into_iter().collect::<Vec<(i64, Fraction)>>()
    });
    let steps = |side: usize| sides[side].iter().map(|s| s.0).collect::<Vec<i64>>();
    let alignment = Alignment::of(&steps(0), &steps(1), settings.alignment);
    let mean = |sum: Fraction| [sum[0] / sum[1], 1.0];
    let fractions: Vec<[Fraction; 2]> =
        alignment.pairs.iter().map(|(l, r)| [mean(sides[0][*l].1), mean(sides[1][*r].1)]).collect();
    let total = |side: usize| {
        let sum = fractions.iter().fold([0.0; 2], |s, f| [s[0] + f[side][0], s[1] + f[side][1]]);
        value(sum)
    };
    let (baseline, other) = (total(0)?, total(1)?);
    let mut row = MetricRow {
        name: format!("trainer.{metric}"),
        label: format!("{metric} (trainer)"),
        family: "trainer".into(),
        unit: "number".into(),
        baseline,
        other,
        difference: other - baseline,
        interval: "none".into(),
        test: "none".into(),
        test_unit: "none".into(),
        ..MetricRow::default()
    };
    if arms.iter().all(|arm| arm.runs.len() > 1) {
        over_seeds(by_run, arms, settings, &mut row);
    } else {
        step_metric(&fractions, settings, alignment.is_pairing(), &mut row);
    }
    Some(row)
}

fn over_seeds(
    by_run: &BTreeMap<String, BTreeMap<i64, f64>>,
    arms: [&Arm; 2],
    settings: &CompareSettings,
    row: &mut MetricRow,
) {
    let mean = |points: &BTreeMap<i64, f64>| points.values().sum::<f64>() / points.len().max(1) as f64;
    let [left, right] =
        arms.map(|arm| arm.runs.iter().filter_map(|run| by_run.get(run)).map(mean).collect::<Vec<f64>>());
    if let Some(bounds) = welch_interval(&left, &right, settings.confidence) {
        [row.ci_low, row.ci_high] = bounds.map(Some);
        row.interval = "seeds".into();
    }
    row.test = "mann_whitney".into();
    row.test_unit = "seeds".into();
    row.n = left.len().min(right.len()) as u64;
    row.p_value = Some(rank_sum(&left, &right));
    row.effect = effect::cliffs_delta(&left, &right);
    row.shift = effect::shift(&left, &right);
}
