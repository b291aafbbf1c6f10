//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::input::{ReadingArgs, StepsArgs};
use super::mask::MaskArgs;
use super::showing::ShowingArgs;
use super::values::on_disk;
use stapo_compare::Metric;

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

    /// What the trainer logged, to be drawn beside the runs: CSV, JSON lines, trainer_state.json, exports of Weights &
    /// Biases (repeatable)
    #[arg(long, value_name = "[RUN=]FILE")]
    pub metrics: Vec<String>,

    /// What methods are judged by [default: reward]
    #[arg(long, value_name = "NAME", value_parser = metric, help_heading = "Statistics")]
    pub metric: Option<Metric>,

    /// Seeds of one recipe: how far single runs are apart by their seeds alone (repeatable, once a recipe)
    #[arg(long, value_name = "RUN,RUN,RUN", help_heading = "Statistics")]
    pub seeds_like: Vec<String>,

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

/// A metric by its name in compare.json.
fn metric(text: &str) -> Result<Metric, String> {
    let names = || Metric::ALL.iter().map(|metric| metric.name()).collect::<Vec<_>>().join(", ");
    Metric::ALL
        .into_iter()
        .find(|metric| metric.name() == text)
        .ok_or_else(|| format!("it is one of {}", names()))
}
