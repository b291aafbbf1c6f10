//! Raw command-line arguments; [`super::settings`] resolves them once.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Token-level analysis of RL training runs of language models.
#[derive(Debug, Parser)]
#[command(name = "stapo-analyze", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what a log holds and whether it can be trusted
    ///
    /// Shows framework, layout, steps, responses, tokens, the mapping of columns and the share of
    /// missing values, then a verdict for each health check: ranges, feasibility of probability and
    /// entropy, alignment, on-policy entropy, duplicates, zero advantages, group sizes.
    Check(CheckArgs),
    /// Write a log as canonical Parquet
    ///
    /// Nested layout (a row per response) unless --long is given; zstd, byte-stream-split floats,
    /// metadata kept. The output appears under its name only when it is complete.
    Convert(ConvertArgs),
}

/// Where the log is and how to read it.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Log files, folders or globs of one run: Parquet, or JSON lines (.jsonl, .gz, .zst)
    #[arg(value_name = "RUN", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Take COLUMN of the log for a canonical column (repeatable; an empty COLUMN drops it)
    #[arg(long = "map", value_name = "CANONICAL=COLUMN", help_heading = "Reading")]
    pub maps: Vec<String>,

    /// How list values belong to tokens, where it is not recognised
    #[arg(long, value_enum, value_name = "CONVENTION", help_heading = "Reading")]
    pub align: Option<AlignArg>,

    /// Unit of logged entropies
    #[arg(long, value_enum, default_value_t = EntropyUnit::Nats, value_name = "UNIT", help_heading = "Reading")]
    pub entropy_unit: EntropyUnit,

    /// Go on where more than 20 % of a column's values are missing or bad
    #[arg(long, help_heading = "Reading")]
    pub allow_missing: bool,

    /// Worker threads [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Reading")]
    pub threads: usize,

    /// No progress bar, no notes
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// The conventions of list values.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AlignArg {
    /// Response tokens only, padding at the end
    Response,
    /// Response tokens only, padding at the start
    LeftPadded,
    /// Prompt and response, value i belongs to token i
    Full,
    /// Prompt and response, value i belongs to token i + 1
    Shifted,
    /// Token ids of prompt and response, values of the response only
    Right,
    /// One value for each trained token only
    Compact,
}

/// Units of entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EntropyUnit {
    /// Natural logarithm
    Nats,
    /// Logarithm to base 2
    Bits,
}

/// Formats of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For machines
    Json,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Size of the vocabulary [default: from metadata, else guessed from the largest id]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub vocab_size: Option<u32>,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Exit with 1 when a check fails
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// The Parquet file to write
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: PathBuf,

    /// Long layout: a row per token
    #[arg(long, help_heading = "Output")]
    pub long: bool,
}
