//! Trainer scalars beside ours: the same statistics, one value a step.

use polars::prelude::{DataFrameJoinOps, PolarsResult, SortMultipleOptions};

use super::by_step::{Points, Scalar, row};
use super::result::{Arm, Family, MetricRow, Series, Unit};
use super::settings::CompareSettings;
use super::trainer::Trainer;
use stapo_base::tables::{Columns, DataFrame};

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
    let mut by_run = vec![Points::new(); runs.len()];
    // The names and types of both frames are ours, whatever a metric is called: polars has nothing to refuse.
    for (number, step, value) in joined_rows(trainer, metric, runs).unwrap_or_default() {
        by_run[number as usize].push((step, value));
    }
    Scalar { by_run }
}

/// Number of the run, step and value of each row that has one: by run, then by step.
fn joined_rows(trainer: &Trainer, metric: &str, runs: &[&String]) -> PolarsResult<Vec<(u64, i64, f64)>> {
    let Some(values) = values(trainer, metric) else { return Ok(Vec::new()) };
    let numbered: Vec<(u64, &String)> = (0..).zip(runs.iter().copied()).collect();
    let wanted = Columns::of(&numbered).count("number", |r| r.0).text("run", |r| r.1.as_str()).frame();
    let rows = wanted.inner_join(&values, ["run"], ["run"])?;
    let rows = rows.sort(["number", "step"], SortMultipleOptions::default())?;
    let (number, step) = (rows.column("number")?.u64()?, rows.column("step")?.i64()?);
    let rows = number.iter().zip(step.iter()).zip(rows.column("value")?.f64()?.iter());
    Ok(rows.filter_map(|((number, step), value)| Some((number?, step?, value?))).collect())
}

/// The columns `run` and `step` of the trainer, and a metric as `value`: its own name may be that of another column.
fn values(trainer: &Trainer, metric: &str) -> Option<DataFrame> {
    let place = trainer.metrics.iter().position(|name| name == metric)?;
    let columns = trainer.frame.columns();
    let value = columns.get(2 + place)?.clone().with_name("value".into());
    DataFrame::new(trainer.frame.height(), vec![columns[0].clone(), columns[1].clone(), value]).ok()
}

/// Whether a scalar is the KL divergence, which was named in advance: `kl`, `train/kl`,
/// `objective/kl`.
fn is_kl(metric: &str) -> bool {
    metric.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("kl"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::settings::TrainerInput;
    use super::super::trainer;
    use super::*;

    #[test]
    fn a_metric_may_have_the_name_of_a_column_of_the_join() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trainer_state.json");
        let history = r#"{"log_history": [
            {"step": 1, "number": 5, "run": 3, "value": 0.5},
            {"step": 2, "number": 6, "run": 4, "value": 0.25}]}"#;
        std::fs::write(&path, history).unwrap();
        let input = TrainerInput { run: Some("b".into()), path };
        let trainer = trainer::read(&[input], &["a", "b"]).unwrap().unwrap();
        let arms = [Arm { name: "both".into(), runs: vec!["a".into(), "b".into()] }];
        let mut found = series(&trainer, &arms);
        found.sort_by(|a, b| a.metric.cmp(&b.metric));
        assert!(found.iter().all(|series| series.run == "b"), "{found:?}");
        let found: Vec<(&str, &[(i64, f64)])> =
            found.iter().map(|series| (series.metric.as_str(), &series.points[..])).collect();
        let expected: [(&str, &[(i64, f64)]); 3] = [
            ("number", &[(1, 5.0), (2, 6.0)]),
            ("run", &[(1, 3.0), (2, 4.0)]),
            ("value", &[(1, 0.5), (2, 0.25)]),
        ];
        assert_eq!(found, expected);
    }
}
