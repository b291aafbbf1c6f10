//! Arguments of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::input::{ReadingArgs, StepsArgs};
use super::mask::MaskArgs;
use super::showing::ShowingArgs;
use super::values::on_disk;
use stapo_compare::CompareSettings;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(override_usage = "stapo-analyze compare [OPTIONS] <[NAME=]RUN>...")]
pub struct CompareArgs {
    /// Logs of runs, each a file, folder or quoted glob; the first is the baseline. Two of one name
    /// are told apart by a suffix
    #[arg(value_name = "[NAME=]RUN", required_unless_present = "arms")]
    pub runs: Vec<String>,

    /// Several runs (seeds) as one arm, separated by commas (repeatable; after all single runs)
    #[arg(long = "arm", value_name = "NAME=RUN,RUN")]
    pub arms: Vec<String>,

    /// Trainer scalars to join: CSV with the columns run, step, and any numbers; or, of one run, a CSV
    /// of Weights & Biases or trainer_state.json (repeatable)
    #[arg(long, value_name = "[RUN=]FILE")]
    pub metrics: Vec<String>,

    /// How steps are aligned [default: the strictest that aligns half of them]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Statistics")]
    pub align_steps: Option<AlignStepsArg>,

    /// Draws of the bootstrap
    #[arg(long, value_name = "N", default_value_t = CompareSettings::default().draws, help_heading = "Statistics")]
    pub draws: usize,

    /// Level of intervals; what is called different has a corrected p of at most 1 minus it
    #[arg(long, value_name = "LEVEL", default_value_t = CompareSettings::default().confidence, help_heading = "Statistics")]
    pub confidence: f64,

    /// Seed of all draws
    #[arg(long, value_name = "N", default_value_t = CompareSettings::default().seed, help_heading = "Statistics")]
    pub seed: u64,

    /// Keep what is read in DIR: another comparison reads new files only
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    pub cache: Option<PathBuf>,

    /// Write compare.html, compare.md, charts, compare.json and tables into DIR
    #[arg(long, value_name = "DIR", help_heading = "Output", value_parser = on_disk)]
    pub report: Option<PathBuf>,

    /// How it is shown.
    #[command(flatten)]
    pub showing: ShowingArgs,

    /// Exit with 1 when a number of compare.json meets CONDITION, such as
    /// "metrics.reward.ci_high<0" (repeatable)
    #[arg(long = "fail-on", value_name = "CONDITION", help_heading = "Output")]
    pub fail_on: Vec<String>,

    /// How to read the logs.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Which part of them.
    #[command(flatten)]
    pub part: StepsArgs,

    /// What is computed.
    #[command(flatten)]
    pub options: MaskArgs,
}

/// How steps are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlignStepsArg {
    /// Steps of the same number
    Exact,
    /// The nearest step
    Nearest,
    /// Steps at the same part of each run
    Progress,
}
