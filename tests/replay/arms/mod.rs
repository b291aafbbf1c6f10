//! The replay through its command line, on the sample model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::schema_support;
use crate::support;
mod adapter;
mod bad_input;
mod beforehand;
mod changed_logs;
mod outputs;
mod parity;
mod resume;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::sample;

/// The program, with `replay LOG --report FOLDER`.
fn command(log: &Path, folder: &Path, options: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    command.arg("replay").arg(log).arg("--report").arg(folder).args(options.split_whitespace());
    command
}

/// The same with the sample model.
fn with_model(log: &Path, folder: &Path, options: &str) -> Command {
    let mut command = command(log, folder, options);
    command.arg("--model").arg(sample("model"));
    command
}

fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn result(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("replay.json")).unwrap()).unwrap()
}

/// What a command that is refused says.
fn refused(mut command: std::process::Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}
