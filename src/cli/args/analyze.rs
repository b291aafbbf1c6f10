//! Arguments of the main job.

use std::path::PathBuf;

use clap::Args;

use super::input::{InputArgs, StepsArgs};
use super::mask::MaskArgs;
use super::showing::ReportArgs;

/// Arguments of the main job.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Which part of it.
    #[command(flatten)]
    pub part: StepsArgs,

    /// Of several runs in a file of training curves, take the one of this NAME
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub run: Option<String>,

    /// Keep what is read in DIR: another analysis of the same run reads new files only
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    pub cache: Option<PathBuf>,

    /// What is shown of it.
    #[command(flatten)]
    pub shown: ReportArgs,

    /// Exit with 1 when a number of the summary meets CONDITION, such as "s2t.fraction>3e-4", or has no value; or
    /// when the run is suspicious, not_learning, damaged, collapsed or not_finite (each also stands for what is
    /// worse), healthy, undecided or unknown (repeatable). A null that says that there is nothing of the kind (verdict.first_bad_step) passes
    #[arg(long = "fail-on", value_name = "CONDITION", help_heading = "Output")]
    pub fail_on: Vec<String>,

    /// What is computed.
    #[command(flatten)]
    pub options: MaskArgs,
}
