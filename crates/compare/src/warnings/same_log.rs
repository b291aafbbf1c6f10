//! Runs that are one and the same log.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::warning::warning;
use crate::result::{CompareCode, CompareWarning};
use stapo_result::ComparedRun;

/// Runs that are read from the same files: each with its name and what tells its files from others.
pub fn of_files(runs: &[(&str, BTreeSet<PathBuf>)]) -> Vec<CompareWarning> {
    let mut found = Vec::new();
    for (at, (name, files)) in runs.iter().enumerate() {
        for (first, others) in &runs[..at] {
            let shared = files.intersection(others).count();
            if shared == 0 {
                continue;
            }
            let message = match files == others {
                true => format!(
                    "{first} and {name} are the same log: nothing can be told from comparing a log with itself"
                ),
                false => format!(
                    "{first} and {name} have {shared} {} in common: what is in there counts on both sides and hides differences",
                    files_word(shared)
                ),
            };
            found.push(warning(CompareCode::SameLog, message, OWN_LOG, &[("files", shared as f64)]));
        }
    }
    found
}

/// Runs of other files with the same rows: a copy, or the log of one run twice.
pub fn of_copies(runs: &[(&str, &ComparedRun)], files: &[(&str, BTreeSet<PathBuf>)]) -> Vec<CompareWarning> {
    let mut found = Vec::new();
    for (at, (name, run)) in runs.iter().enumerate() {
        for (before, (first, other)) in runs[..at].iter().enumerate() {
            // Of the same files it is said already.
            let told = files.get(at).zip(files.get(before)).is_some_and(|(a, b)| a.1 == b.1);
            if !told && run.steps == other.steps && run.clusters.groups == other.clusters.groups {
                found.push(warning(
                    CompareCode::SameLog,
                    format!(
                        "{first} and {name} have the same rows: every number of every step is equal, as of a copy"
                    ),
                    OWN_LOG,
                    &[("steps", run.steps.len() as f64)],
                ));
            }
        }
    }
    found
}

const OWN_LOG: &str = "check the paths: give each run its own log";

fn files_word(count: usize) -> &'static str {
    if count == 1 { "file" } else { "files" }
}
