//! How the result of a command is shown.

use std::path::PathBuf;

use clap::Args;

use super::values::{Format, on_disk};

/// How a result is shown, by a command that makes a report of it.
#[derive(Debug, Args)]
pub struct ShowingArgs {
    /// Open the page in the browser when it is written
    #[arg(long, requires = "report", help_heading = "Output")]
    pub open: bool,

    /// Print all that the report says, not only what matters
    #[arg(long, help_heading = "Output")]
    pub verbose: bool,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// With --format json: all numbers, as in summary.json, instead of what an answer needs
    #[arg(long, help_heading = "Output")]
    pub full: bool,
}

/// The report of an analysis, and how its result is shown.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Write report.html, report.md, charts, summary.json and tables into DIR
    #[arg(long, value_name = "DIR", help_heading = "Output", value_parser = on_disk)]
    pub report: Option<PathBuf>,

    /// How it is shown.
    #[command(flatten)]
    pub showing: ShowingArgs,
}
