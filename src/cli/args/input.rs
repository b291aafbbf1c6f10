//! Where a log is and how to read it.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::values::memory;
use stapo_ingest::{ListAlignment, StepRange};

/// Where the log is and how to read it.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Log files, folders or globs of one run, on disk or at s3://, gs://, az://, https://: Parquet, or JSON lines (.jsonl,
    /// .gz, .zst), of tokens, or of texts and rewards; or training curves: trainer_state.json, exports of trackers (.csv, .json), a console's .log
    #[arg(value_name = "RUN", required = true)]
    pub inputs: Vec<PathBuf>,

    /// How to read it.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How to read a log.
#[derive(Clone, Debug, Args)]
pub struct ReadingArgs {
    /// Take COLUMN of the log for a canonical column (repeatable; an empty COLUMN drops it)
    #[arg(long = "map", value_name = "CANONICAL=COLUMN", help_heading = "Reading")]
    pub maps: Vec<String>,

    /// How list values belong to tokens, where it is not recognised
    #[arg(long, value_parser = alignment(), value_name = "CONVENTION", help_heading = "Reading")]
    pub align: Option<ListAlignment>,

    /// Unit of logged entropies
    #[arg(long, value_enum, default_value_t = EntropyUnit::Nats, value_name = "UNIT", help_heading = "Reading")]
    pub entropy_unit: EntropyUnit,

    /// Worker threads [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Reading")]
    pub threads: usize,

    /// Take files of different runs as one, and rows that stand twice as two
    #[arg(long, help_heading = "Reading")]
    pub pool: bool,

    /// Memory that reading may take, all workers together; a log that needs more is refused
    /// [default: 500M, and 32M a worker]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Reading")]
    pub max_memory: Option<u64>,

    /// Take all responses of these logs for evaluation, whatever they say: verl's validation_data_dir (repeatable)
    #[arg(long = "held-out", value_name = "LOG", help_heading = "Reading")]
    pub held_out: Vec<PathBuf>,

    /// Tokens that one worker reads at a time, at least
    #[arg(long, value_name = "N", default_value_t = 0, hide = true)]
    pub unit_tokens: u64,

    /// No progress bar, no notes
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// A part of a run.
#[derive(Debug, Args)]
pub struct StepsArgs {
    /// Read these steps only, both ends included: 10..40, 10.., ..40 or 10
    #[arg(long, value_name = "STEPS", allow_hyphen_values = true, help_heading = "Reading")]
    pub steps: Option<StepRange>,
}

/// Units of entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EntropyUnit {
    /// Natural logarithm
    Nats,
    /// Logarithm to base 2
    Bits,
}

fn alignment() -> impl TypedValueParser<Value = ListAlignment> {
    PossibleValuesParser::new(ListAlignment::ALL.map(ListAlignment::name))
        .try_map(|name| name.parse::<ListAlignment>())
}
