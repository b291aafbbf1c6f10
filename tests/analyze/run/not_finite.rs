//! A run that turns NaN is analysed up to there, and what was not known of a part of the reward is no finding.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{ArrayRef, Float32Array, ListArray, RecordBatch};
use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis, analyze_for_comparison};
use stapo_analyze::ingest::Silent;

use crate::run::{analyzed, open, schema_support};
use crate::support::small_log;

/// Steps of the log, and of those the ones that are known.
const STEPS: usize = 6;
const KNOWN: usize = 3;

/// The batch with this column in the place of the one of its name, else behind all.
fn with_column(batch: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let mut all: Vec<(String, ArrayRef)> =
        columns.map(|(field, column)| (field.name().clone(), Arc::clone(column))).collect();
    match all.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = column,
        None => all.push((name.into(), column)),
    }
    RecordBatch::try_from_iter_with_nullable(all.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn step_of(batch: &RecordBatch) -> i64 {
    batch.column_by_name("step").unwrap().as_primitive::<Int64Type>().value(0)
}

/// The same lists with nothing but NaN.
fn nothing(lists: &ArrayRef) -> ArrayRef {
    let rows = lists.as_list::<i32>().iter().map(|row| row.map(|row| vec![Some(f32::NAN); row.len()]));
    Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows))
}

/// The first steps of the sample run, in which `columns` are NaN from the first step on that is not known.
fn turned(folder: &Path, steps: usize, columns: &[&str]) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let known_to = analyzed(&[small_log(folder, KNOWN, 64, |batch| batch)], &AnalyzeSettings::default())
        .to_value()
        .unwrap()["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["step"].as_i64())
        .max()
        .unwrap();
    small_log(folder, steps, 64, |batch| {
        let gone = |batch: RecordBatch, name: &&str| {
            let lists = nothing(batch.column_by_name(name).unwrap());
            with_column(&batch, name, lists)
        };
        if step_of(&batch) > known_to { columns.iter().fold(batch, gone) } else { batch }
    })
}

fn parsed(analysis: &RunAnalysis) -> Value {
    let json = analysis.to_json().unwrap();
    let value: Value = serde_json::from_str(&json).unwrap();
    schema_support::validate(&value, "summary");
    value
}

#[test]
fn a_run_that_turns_nan_is_analysed_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    for columns in [&["logprob"][..], &["entropy"], &["logprob", "entropy"]] {
        let path = turned(&folder.path().join(columns.join("-")), STEPS, columns);
        let all = analyzed(std::slice::from_ref(&path), &AnalyzeSettings::default());
        assert!(all.frames().iter().any(|(name, _)| *name == "steps"));
        let short = turned(&folder.path().join("short"), KNOWN, &[]);
        let short = analyzed(&[short], &AnalyzeSettings::default());
        assert_eq!(all.totals.tokens - all.totals.missing, short.totals.tokens, "{columns:?}");
        let (whole, known) = (parsed(&all), parsed(&short));
        for field in [
            "positive",
            "negative",
            "zero_advantage",
            "mean_entropy",
            "mean_prob",
            "gradient_energy",
            "max_norm",
        ] {
            assert_eq!(whole["totals"][field], known["totals"][field], "{columns:?} {field}");
        }
        let steps = |value: &Value| value["steps"].as_array().unwrap().clone();
        for (ours, theirs) in steps(&whole).iter().zip(&steps(&known)) {
            assert_eq!(ours, theirs, "{columns:?}");
        }
        // Said first; where only entropies are gone, they were not computed, and nothing is said of the run.
        let turned = columns.contains(&"logprob");
        assert_eq!(whole["verdict"]["state"] == "not_finite", turned, "{columns:?}: {}", whole["verdict"]);
        // It is counted, and said.
        for column in columns {
            let of_column = |quality: &&Value| quality["column"] == *column;
            let quality = whole["quality"].as_array().unwrap().iter().find(of_column).unwrap();
            assert!(quality["missing_share"].as_f64().unwrap() > 0.4, "{quality}");
            let bad = ["null", "not_finite", "out_of_range"].map(|why| quality[why].as_u64().unwrap());
            assert!(bad.iter().sum::<u64>() > 0, "{quality}");
            let said = format!("column `{column}`");
            let warnings = whole["warnings"].as_array().unwrap();
            assert!(warnings.iter().any(|w| w["message"].as_str().unwrap().starts_with(&said)), "{column}");
        }
        let compared =
            analyze_for_comparison(&open(&[path], 2), &AnalyzeSettings::default(), &Silent).unwrap();
        assert_eq!(compared.totals.missing, all.totals.missing, "{columns:?}");
    }
}

/// TRL writes NaN where a function of the reward was not applied.
#[test]
fn a_part_of_the_reward_that_was_not_applied_is_no_finding() {
    let findings = |analysis: &RunAnalysis| {
        let value = parsed(analysis);
        let codes: Vec<String> = value["diagnosis"]["causes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cause| format!("{} {}", cause["code"], cause["confidence"]))
            .collect();
        (value["verdict"]["state"].clone(), codes, value["warnings"].clone())
    };
    let folder = tempfile::tempdir().unwrap();
    let plain = small_log(folder.path(), STEPS, 128, |batch| batch);
    let plain = analyzed(&[plain], &AnalyzeSettings::default());
    for every in [1, 2, 5] {
        let parted = small_log(folder.path(), STEPS, 128, |batch| {
            let step = step_of(&batch) as usize;
            // Applied to every so many of the groups, of eight responses each.
            let value = |i: usize| match (i / 8 + step) % every {
                0 if every > 1 => ((i * 7 + i / 3) % 5) as f32 / 4.0,
                _ => f32::NAN,
            };
            let column = Float32Array::from((0..batch.num_rows()).map(value).collect::<Vec<_>>());
            with_column(&batch, "reward/style", Arc::new(column))
        });
        let parted = analyzed(&[parted], &AnalyzeSettings::default());
        assert_eq!(findings(&parted), findings(&plain), "one group in {every}");
    }
}
