//! Trainer scalars beside ours: the same statistics, one value a step.

use polars::prelude::{DataFrameJoinOps, SortMultipleOptions};

use super::by_step::{Points, Scalar, row};
use super::result::{Arm, Family, MetricRow, Series, Unit};
use super::settings::CompareSettings;
use super::trainer::Trainer;
use crate::tables::Columns;

/// The scalars of the runs that are compared.
pub fn series(trainer: &Trainer, arms: &[Arm]) -> Vec<Series> {
    let runs: Vec<&String> = arms.iter().flat_map(|arm| &arm.runs).collect();
    let of_metric = |metric: &String| {
        let found = joined(trainer, metric, &runs).by_run.into_iter().zip(&runs);
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
    let of_metric = |metric: &String| {
        let scalars = arms.map(|arm| joined(trainer, metric, &arm.runs.iter().collect::<Vec<_>>()));
        let described = MetricRow {
            name: format!("trainer.{metric}"),
            label: format!("{metric} (trainer)"),
            family: Family::Trainer,
            primary: is_kl(metric),
            unit: Unit::Number,
            never_negative: scalars.iter().all(Scalar::is_never_negative),
            ..MetricRow::default()
        };
        row(described, &scalars, settings)
    };
    trainer.metrics.iter().filter_map(of_metric).collect()
}

/// Joins the trainer's rows to the runs.
fn joined(trainer: &Trainer, metric: &str, runs: &[&String]) -> Scalar {
    let numbered: Vec<(u64, &String)> = (0..).zip(runs.iter().copied()).collect();
    let wanted = Columns::of(&numbered).count("number", |r| r.0).text("run", |r| r.1.as_str()).frame();
    let mut by_run = vec![Points::new(); runs.len()];
    let joined = wanted.inner_join(&trainer.frame, ["run"], ["run"]).and_then(|rows| {
        let rows = rows.sort(["number", "step"], SortMultipleOptions::default())?;
        let (number, step) = (rows.column("number")?.u64()?, rows.column("step")?.i64()?);
        for ((number, step), value) in number.iter().zip(step.iter()).zip(rows.column(metric)?.f64()?.iter())
        {
            if let (Some(number), Some(step), Some(value)) = (number, step, value) {
                by_run[number as usize].push((step, value));
            }
        }
        Ok(())
    });
    // The columns are ours: polars has nothing to refuse.
    debug_assert!(joined.is_ok(), "{joined:?}");
    Scalar { by_run }
}

/// Whether a scalar is the KL divergence, which was named in advance: `kl`, `train/kl`,
/// `objective/kl`.
fn is_kl(metric: &str) -> bool {
    metric.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("kl"))
}
