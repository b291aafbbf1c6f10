//! Compares two runs and prints whether they differ.
//!
//! ```sh
//! cargo run --release --example compare_two -- notebooks-data/grpo.parquet notebooks-data/stapo.parquet
//! ```

use std::io::{Write, stdout};
use std::path::PathBuf;

use stapo_analyze::Result;
use stapo_analyze::compare::{ArmInput, CompareSettings, Comparison, RunInput, compare};
use stapo_analyze::error::Error;
use stapo_analyze::ingest::{IngestSettings, Silent};
use stapo_analyze::tables::{select, text};

fn main() -> Result<()> {
    let arms: Vec<ArmInput> = std::env::args_os().skip(1).map(|path| arm(path.into())).collect();
    let comparison = compare(&arms, &IngestSettings::default(), &CompareSettings::default(), |_| Silent)?;
    print(&comparison, &mut stdout().lock()).map_err(|e| Error::write("standard output".as_ref(), e))
}

/// A run that stands for itself, under the name of its file.
fn arm(path: PathBuf) -> ArmInput {
    ArmInput { name: None, runs: vec![RunInput { name: None, paths: vec![path] }] }
}

fn print(comparison: &Comparison, out: &mut dyn Write) -> std::io::Result<()> {
    for line in comparison.said.iter().flat_map(|said| &said.lines) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let columns = ["name", "baseline", "other", "difference", "ci_low", "ci_high", "verdict"];
    text::write(&select(&comparison.metrics_frame(), &columns), &[], out)
}
