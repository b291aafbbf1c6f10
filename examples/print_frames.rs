//! Analyses a log and prints its tables, which are polars frames.
//!
//! ```sh
//! cargo run --release --example print_frames -- notebooks-data/grpo.parquet
//! ```

use std::io::{Write, stdout};
use std::path::PathBuf;

use stapo_analyze::Result;
use stapo_analyze::analyze::{AnalyzeSettings, analyze};
use stapo_analyze::error::Error;
use stapo_analyze::ingest::{IngestSettings, Run, Silent};
use stapo_analyze::tables::{select, text};

fn main() -> Result<()> {
    let logs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let run = Run::open(&logs, &IngestSettings::default())?;
    let analysis = analyze(&run, &AnalyzeSettings::default(), &Silent)?;
    let mut out = stdout().lock();
    print(&analysis, &mut out).map_err(|e| Error::write("standard output".as_ref(), e))
}

fn print(analysis: &stapo_analyze::analyze::RunAnalysis, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}\n", analysis.verdict.health)?;
    for (name, frame) in analysis.frames() {
        writeln!(out, "{name}: {} rows, {} columns", frame.height(), frame.width())?;
    }
    writeln!(out, "\nsteps")?;
    let steps = select(&analysis.steps_frame(), &["step", "tokens", "mean_entropy", "silenced"]);
    text::write(&steps, &[], out)
}
