//! Runs against each other: `stapo-analyze compare` end to end, on real runs, on runs made up for one purpose, and on
//! bad input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/compare_support/mod.rs"]
mod compare_support;
#[path = "../shared/folders/mod.rs"]
mod folders;
#[path = "../shared/schema_support/mod.rs"]
mod schema_support;
#[path = "../shared/support/mod.rs"]
mod support;

mod command;
mod methods;
mod other_logs;
mod output;
mod runs;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, ComparedRun, analyze_for_comparison};
use stapo_analyze::compare::{CompareSettings, Comparison, NamedRun, compare_runs};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};

fn program() -> Command {
    let mut command = Command::cargo_bin("stapo-analyze").unwrap();
    command.arg("compare");
    command
}

fn json(command: &mut Command) -> Value {
    let output = command.args(["--format", "json", "--full"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    schema_support::validate(&value, "compare");
    value
}

fn row<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let mut rows = comparison["metrics"].as_array().unwrap().iter();
    rows.find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn codes(comparison: &Value) -> Vec<&str> {
    comparison["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect()
}

/// All lines that are said of a level.
fn said<'a>(comparison: &'a Value, level: &str) -> Vec<&'a str> {
    let said = comparison["said"].as_array().unwrap().iter().filter(|said| said["level"] == level);
    said.flat_map(|said| said["lines"].as_array().unwrap()).map(|line| line.as_str().unwrap()).collect()
}

fn close(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found} is not {expected}");
}

fn analysis(path: &Path) -> ComparedRun {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    analyze_for_comparison(&run, &AnalyzeSettings::default(), &Silent).unwrap()
}

fn compared(runs: [(&str, &ComparedRun); 2]) -> Comparison {
    let named = runs.map(|(name, analysis)| NamedRun {
        name: name.into(),
        arm: name.into(),
        analysis: analysis.clone(),
    });
    compare_runs(&named, &[], None, &CompareSettings::default())
}

/// A run of the real model that is in this repository.
fn real(name: &str) -> PathBuf {
    support::sample(&format!("real/{name}.parquet"))
}

/// Three seeds of each arm of the real model, where the whole data is.
fn arms_of_data() -> Option<[String; 3]> {
    let folder = PathBuf::from(std::env::var_os("STAPO_DATA")?).join("real/arms");
    let arm = |name: &str| {
        let seeds = (1..=3).map(|seed| folder.join(format!("{name}_{seed}.parquet")).display().to_string());
        format!("{name}={}", seeds.collect::<Vec<_>>().join(","))
    };
    Some(["grpo", "stapo", "random"].map(arm))
}
