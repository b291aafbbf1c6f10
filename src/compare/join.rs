//! Trainer scalars beside ours: the same statistics, one value a step.

use std::collections::BTreeMap;

use polars::prelude::{DataFrameJoinOps, SortMultipleOptions};

use super::align::Alignment;
use super::judge::step_metric;
use super::quantities::{Fraction, value};
use super::result::{Arm, Family, MetricRow, Series, Unit};
use super::settings::CompareSettings;
use super::testing;
use super::trainer::Trainer;
use crate::tables::{Columns, DataFrame};

/// The scalars of the runs that are compared.
pub fn series(trainer: &Trainer, arms: &[Arm]) -> Vec<Series> {
    let runs: Vec<&String> = arms.iter().flat_map(|arm| &arm.runs).collect();
    let of_metric = |metric: &String| {
        let found = Scalar::of(trainer, metric, &runs).by_run.into_iter().zip(&runs);
        let series = |(points, run): (Points, &&String)| Series {
            run: (*run).clone(),
            metric: metric.clone(),
            points,
        };
        found.filter(|(points, _)| !points.is_empty()).map(series).collect::<Vec<Series>>()
    };
    trainer.metrics.iter().flat_map(of_metric).collect()
}

/// One row for every scalar that both arms have.
pub fn rows(trainer: &Trainer, arms: [&Arm; 2], settings: &CompareSettings) -> Vec<MetricRow> {
    trainer.metrics.iter().filter_map(|metric| row(trainer, metric, arms, settings)).collect()
}

/// Steps and values.
type Points = Vec<(i64, f64)>;

/// A scalar of some runs.
struct Scalar {
    /// Its values, by run in the order that was asked for.
    by_run: Vec<Points>,
}

impl Scalar {
    /// Joins the trainer's rows to the runs.
    fn of(trainer: &Trainer, metric: &str, runs: &[&String]) -> Self {
        let numbered: Vec<(u64, &String)> = (0..).zip(runs.iter().copied()).collect();
        let wanted = Columns::of(&numbered).count("number", |r| r.0).text("run", |r| r.1.as_str()).frame();
        let mut by_run = vec![Points::new(); runs.len()];
        let joined = wanted.inner_join(&trainer.frame, ["run"], ["run"]).and_then(|rows| {
            let rows = rows.sort(["number", "step"], SortMultipleOptions::default())?;
            let (number, step) = (rows.column("number")?.u64()?, rows.column("step")?.i64()?);
            for ((number, step), value) in
                number.iter().zip(step.iter()).zip(rows.column(metric)?.f64()?.iter())
            {
                if let (Some(number), Some(step), Some(value)) = (number, step, value) {
                    by_run[number as usize].push((step, value));
                }
            }
            Ok(())
        });
        // The columns are ours: polars has nothing to refuse.
        debug_assert!(joined.is_ok(), "{joined:?}");
        Self { by_run }
    }

    /// The mean over the runs at each step.
    fn means(&self) -> DataFrame {
        let mut steps: BTreeMap<i64, Fraction> = BTreeMap::new();
        for (step, value) in self.by_run.iter().flatten() {
            let sum = steps.entry(*step).or_default();
            *sum = [sum[0] + value, sum[1] + 1.0];
        }
        let rows: Vec<(i64, f64)> = steps.into_iter().map(|(step, [sum, n])| (step, sum / n)).collect();
        Columns::of(&rows).int("step", |r| r.0).float("value", |r| r.1).frame()
    }
}

/// Values of both sides at the aligned steps: each side joined to the pairs by its step.
fn aligned(sides: &[DataFrame; 2], pairs: &[(i64, i64)]) -> Vec<[Fraction; 2]> {
    let pairs = Columns::of(pairs).int("baseline_step", |p| p.0).int("other_step", |p| p.1).frame();
    let joined = pairs
        .left_join(&sides[0], ["baseline_step"], ["step"])
        .and_then(|rows| rows.left_join(&sides[1], ["other_step"], ["step"]))
        .and_then(|rows| rows.sort(["baseline_step"], SortMultipleOptions::default()))
        .and_then(|rows| {
            let (left, right) = (rows.column("value")?.f64()?, rows.column("value_right")?.f64()?);
            let both = left.iter().zip(right.iter()).filter_map(|(l, r)| Some([[l?, 1.0], [r?, 1.0]]));
            Ok(both.collect::<Vec<[Fraction; 2]>>())
        });
    // The columns are ours: polars has nothing to refuse.
    debug_assert!(joined.is_ok(), "{joined:?}");
    joined.unwrap_or_default()
}

fn row(trainer: &Trainer, metric: &str, arms: [&Arm; 2], settings: &CompareSettings) -> Option<MetricRow> {
    let scalars = arms.map(|arm| Scalar::of(trainer, metric, &arm.runs.iter().collect::<Vec<_>>()));
    let sides = [0, 1].map(|side| scalars[side].means());
    let steps = [0, 1].map(|side| -> Vec<i64> {
        let steps = sides[side].column("step").and_then(|column| column.i64());
        steps.into_iter().flat_map(|steps| steps.iter().flatten()).collect()
    });
    let alignment = Alignment::of(&steps[0], &steps[1], settings.alignment);
    let pairs: Vec<(i64, i64)> = alignment.pairs.iter().map(|(l, r)| (steps[0][*l], steps[1][*r])).collect();
    let fractions = aligned(&sides, &pairs);
    let total = |side: usize| {
        let sum = fractions.iter().fold([0.0; 2], |s, f| [s[0] + f[side][0], s[1] + f[side][1]]);
        value(sum)
    };
    let (baseline, other) = (total(0)?, total(1)?);
    let mut row = MetricRow {
        name: format!("trainer.{metric}"),
        label: format!("{metric} (trainer)"),
        family: Family::Trainer,
        primary: is_kl(metric),
        unit: Unit::Number,
        baseline,
        other,
        difference: other - baseline,
        ..MetricRow::default()
    };
    if arms.iter().all(|arm| arm.runs.len() > 1) {
        over_seeds(&scalars, settings, &mut row);
    } else {
        step_metric(&fractions, settings, alignment.is_pairing(), &mut row);
    }
    Some(row)
}

fn over_seeds(scalars: &[Scalar; 2], settings: &CompareSettings, row: &mut MetricRow) {
    let mean = |points: &Points| points.iter().map(|p| p.1).sum::<f64>() / points.len().max(1) as f64;
    let [left, right] = [0, 1].map(|side| {
        let known = scalars[side].by_run.iter().filter(|points| !points.is_empty());
        known.map(mean).collect::<Vec<f64>>()
    });
    let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    (row.baseline, row.other) = (mean_of(&left), mean_of(&right));
    row.difference = row.other - row.baseline;
    testing::seeds(&left, &right, settings.confidence, row);
}

/// Whether a scalar is the KL divergence, which was named in advance: `kl`, `train/kl`,
/// `objective/kl`.
fn is_kl(metric: &str) -> bool {
    metric.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("kl"))
}
