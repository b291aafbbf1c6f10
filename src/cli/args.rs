//! Raw command-line arguments; [`super::settings`] resolves them once.

mod compare;

pub use compare::{AlignStepsArg, CompareArgs};

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::demo::DemoArgs;
pub use super::replay_args::ReplayArgs;
use super::shell::{CompletionsArgs, ManArgs};
use crate::ingest::Alignment;

/// Token-level analysis of RL training runs of language models
///
/// Computes spurious risk, gradient norm and entropy change of every token, flags the spurious
/// tokens (positive advantage, low probability, low entropy) and says what silencing them would do.
#[derive(Debug, Parser)]
#[command(
    name = "stapo-analyze",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "stapo-analyze [OPTIONS] <RUN>...\n       stapo-analyze <COMMAND>"
)]
pub struct Cli {
    /// Another job than the main one.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The main job.
    #[command(flatten)]
    pub analyze: AnalyzeArgs,
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
    /// Compare runs: what differs beyond noise, by how much, and what does not
    ///
    /// Every run is analysed and held against the first. Steps are aligned; differences have
    /// intervals from a cluster bootstrap (steps, then groups), paired tests where pairing is real,
    /// sizes of effect, and Holm's correction. One run a side speaks of these runs only: give
    /// several seeds as one arm (--arm) to speak of methods.
    Compare(Box<CompareArgs>),
    /// Write a log as canonical Parquet
    ///
    /// Nested layout (a row per response) unless --long is given; zstd, byte-stream-split floats,
    /// metadata kept. The output appears under its name only when it is complete.
    Convert(ConvertArgs),
    /// Analyse a part of a real GRPO run that is inside of the program
    Demo(DemoArgs),
    /// Print completions for a shell
    ///
    /// For example, in ~/.bashrc: source <(stapo-analyze completions bash)
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
    /// Train a policy on the logged batches, once per objective
    ///
    /// Same start, same data, same order; only the objective differs. A share of the prompts is
    /// held out and tells what each objective keeps or loses. Without --model, a small surrogate
    /// policy is fitted to the log first. Leaves replay.html, replay.md, replay.json and a token
    /// log of every arm, which this program analyses in turn.
    Replay(Box<ReplayArgs>),
}

/// Where the log is and how to read it.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Log files, folders or globs of one run: Parquet, or JSON lines (.jsonl, .gz, .zst)
    #[arg(value_name = "RUN", required = true)]
    pub inputs: Vec<PathBuf>,

    /// How to read it.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How to read a log.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// Take COLUMN of the log for a canonical column (repeatable; an empty COLUMN drops it)
    #[arg(long = "map", value_name = "CANONICAL=COLUMN", help_heading = "Reading")]
    pub maps: Vec<String>,

    /// How list values belong to tokens, where it is not recognised
    #[arg(long, value_parser = alignment(), value_name = "CONVENTION", help_heading = "Reading")]
    pub align: Option<Alignment>,

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
    #[value(alias = "table")]
    Text,
    /// For machines
    Json,
}

/// Arguments of the main job.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Write report.html, report.md, charts, summary.json and tables into DIR
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Exit with 1 when a number of the summary meets CONDITION, such as "s2t.fraction>3e-4" (repeatable)
    #[arg(long = "fail-on", value_name = "CONDITION", help_heading = "Output")]
    pub fail_on: Vec<String>,

    /// What is computed.
    #[command(flatten)]
    pub options: MaskArgs,
}

/// The mask and the model: what is computed.
#[derive(Debug, Args)]
pub struct MaskArgs {
    /// Thresholds of the S2T mask: the paper's late version (v5) or its early one (v1)
    #[arg(long, value_enum, default_value_t = PresetArg::V5, help_heading = "Silencing")]
    pub preset: PresetArg,

    /// A token is improbable below this probability [default: 0.002]
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Silencing")]
    pub tau_p: Option<f64>,

    /// The entropy threshold is this quantile of the population [default: 0.75; v1: 0.8]
    #[arg(long, value_name = "Q", value_parser = probability, conflicts_with = "entropy_threshold", help_heading = "Silencing")]
    pub entropy_quantile: Option<f64>,

    /// A fixed entropy threshold instead of a quantile
    #[arg(long, value_name = "NATS", value_parser = non_negative, help_heading = "Silencing")]
    pub entropy_threshold: Option<f64>,

    /// Tokens that the quantile is taken over [default: candidates; v1: all]
    #[arg(long, value_enum, help_heading = "Silencing")]
    pub population: Option<PopulationArg>,

    /// What one threshold holds for
    #[arg(long, value_enum, default_value_t = PerArg::Auto, help_heading = "Silencing")]
    pub per: PerArg,

    /// Token texts from this tokenizer.json [default: the one the log's metadata names]
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub tokenizer: Option<PathBuf>,

    /// Size of the vocabulary [default: from metadata, else guessed from the largest id]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..), help_heading = "Model")]
    pub vocab_size: Option<u32>,

    /// PPO clip range below 1 [default: from metadata, else 0.2]
    #[arg(long, value_name = "EPS", value_parser = non_negative, requires = "clip_high", help_heading = "Model")]
    pub clip_low: Option<f64>,

    /// PPO clip range above 1 [default: from metadata, else 0.28]
    #[arg(long, value_name = "EPS", value_parser = non_negative, requires = "clip_low", help_heading = "Model")]
    pub clip_high: Option<f64>,

    /// Take gradients with respect to logits before they are divided by this temperature
    #[arg(long, value_name = "T", value_parser = positive, help_heading = "Model")]
    pub temperature: Option<f64>,
}

/// Presets of the S2T mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetArg {
    /// Quantile over the candidates of a batch
    V5,
    /// Quantile over all trained tokens of a batch
    V1,
}

/// Populations of the entropy quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PopulationArg {
    /// Tokens with positive advantage and low probability
    Candidates,
    /// Tokens with positive advantage
    Positive,
    /// All trained tokens
    All,
}

/// What a threshold holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PerArg {
    /// The mini-batch where it is logged, else the step
    Auto,
    /// The step
    Step,
    /// The mini-batch
    Minibatch,
}

fn alignment() -> impl TypedValueParser<Value = Alignment> {
    PossibleValuesParser::new(Alignment::ALL.map(Alignment::name)).try_map(|name| name.parse::<Alignment>())
}

fn number(text: &str, good: impl Fn(f64) -> bool, what: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if good(value) => Ok(value),
        _ => Err(format!("not {what}")),
    }
}

pub(super) fn probability(text: &str) -> Result<f64, String> {
    number(text, |v| (0.0..=1.0).contains(&v), "a number from 0 to 1")
}

pub(super) fn non_negative(text: &str) -> Result<f64, String> {
    number(text, |v| v >= 0.0 && v.is_finite(), "a number of 0 or more")
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, |v| v > 0.0 && v.is_finite(), "a number above 0")
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
