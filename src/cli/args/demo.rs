//! Arguments of `demo`.

use std::path::PathBuf;

use clap::Args;

use super::values::on_disk;
/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Write the report, the log and its tokenizer into DIR
    #[arg(long, value_name = "DIR", help_heading = "Output", value_parser = on_disk)]
    pub report: Option<PathBuf>,

    /// Open the page in the browser when it is written
    #[arg(long, requires = "report", help_heading = "Output")]
    pub open: bool,

    /// No progress bar, no notes
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}
