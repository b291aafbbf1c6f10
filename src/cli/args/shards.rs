//! Arguments of `plan`, `collect` and `merge`.

use std::path::PathBuf;

use clap::Args;

use super::input::{InputArgs, StepsArgs};
use super::mask::MaskArgs;
use super::showing::ReportArgs;
use super::values::count;

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Which part of it.
    #[command(flatten)]
    pub part: StepsArgs,

    /// Tokens of a shard, about: 400000 or 2e8
    #[arg(long, value_name = "N", default_value = "2e8", value_parser = count, help_heading = "Shards")]
    pub shard_tokens: u64,

    /// Collect for `compare` instead of a report: merge with -o, and compare the merged parts
    #[arg(long, help_heading = "Shards")]
    pub for_compare: bool,

    /// Where the plan goes
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,

    /// What is computed.
    #[command(flatten)]
    pub options: MaskArgs,
}

/// Arguments of `collect`.
#[derive(Debug, Args)]
pub struct CollectArgs {
    /// The plan
    #[arg(long, value_name = "FILE")]
    pub plan: PathBuf,

    /// The shard to read; shards count from 0
    #[arg(long, value_name = "K")]
    pub shard: usize,

    /// Look again for what `merge` asked
    #[arg(long, value_name = "FILE")]
    pub look: Option<PathBuf>,

    /// The folder that the part goes into
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub output: PathBuf,

    /// Worker threads [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,

    /// No progress bar, no notes
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The plan
    #[arg(long, value_name = "FILE")]
    pub plan: PathBuf,

    /// Parts, or folders with part-*.part
    #[arg(value_name = "PARTS", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Write one bigger part instead of a result: a tree of merges, or a run for `compare`
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["report", "fail_on", "format", "open"], help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// What is shown of it.
    #[command(flatten)]
    pub shown: ReportArgs,

    /// Exit with 1 when a number of the summary meets CONDITION, or the run a state, such as damaged (repeatable)
    #[arg(long = "fail-on", value_name = "CONDITION", help_heading = "Output")]
    pub fail_on: Vec<String>,

    /// Threads [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub threads: usize,

    /// No notes
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}
