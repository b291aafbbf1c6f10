//! `stapo-analyze compare` end to end: on the sample runs, on runs made up for one purpose, and on
//! bad input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::compare_support;
use crate::folders;
use crate::schema_support;
use crate::support;
mod command;
mod differences;

use assert_cmd::Command;
use serde_json::Value;

fn program() -> Command {
    let mut command = Command::cargo_bin("stapo-analyze").unwrap();
    command.arg("compare");
    command
}

fn json(command: &mut Command) -> Value {
    let output = command.args(["--format", "json"]).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    schema_support::validate(&value, "compare");
    value
}

fn rows<'a>(comparison: &'a Value, name: &str) -> Vec<&'a Value> {
    comparison["metrics"].as_array().unwrap().iter().filter(|row| row["name"] == name).collect()
}

fn row<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    rows(comparison, name).first().unwrap_or_else(|| panic!("no {name}"))
}

fn codes(comparison: &Value) -> Vec<&str> {
    comparison["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect()
}

fn close(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} {expected}");
}
