//! Raw command-line arguments; [`super::settings`] resolves them once.

mod analyze;
mod check;
mod compare;
mod convert;
mod demo;
mod explain;
mod input;
mod mask;
mod questions;
#[cfg(feature = "replay")]
mod replay;
mod shards;
mod shell;
mod show;
mod showing;
mod values;
mod watch;

pub use analyze::AnalyzeArgs;
pub use check::CheckArgs;
pub use compare::CompareArgs;
pub use convert::ConvertArgs;
pub use demo::DemoArgs;
pub use explain::ExplainArgs;
pub use input::{EntropyUnit, ReadingArgs, StepsArgs};
pub use mask::{MaskArgs, PerArg, PopulationArg, PresetArg};
#[cfg(feature = "replay")]
pub use replay::{OldArg, RandomFromArg, ReplayArgs};
pub use shards::{CollectArgs, MergeArgs, PlanArgs};
pub use shell::{CompletionsArgs, ManArgs};
pub use show::ShowArgs;
pub use values::Format;
pub use watch::WatchArgs;

use clap::{Parser, Subcommand};

/// Token-level analysis of RL training runs of language models
///
/// Says how a run stands, what was damaged, the likely cause and what to do next: from rewards, groups,
/// clipping, and sampler against trainer. Finds the spurious tokens (positive advantage, low
/// probability, low entropy), their share of the gradient, and what silencing them would do.
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
    /// Say what a log holds, whether it can be trusted, and how its run stands
    ///
    /// Shows framework, layout, steps, responses, tokens, the mapping of columns and the share of missing values, then a
    /// verdict for each check (ranges, zeros, feasibility of probability and entropy), and state and likely causes of
    /// the run, by the measures of its analysis.
    Check(CheckArgs),
    /// Compare runs: whether they differ, and with several seeds a side whether the method does
    ///
    /// Every run is analysed and held against the first. Steps are aligned; differences have
    /// intervals from a cluster bootstrap (steps, then groups), paired tests where pairing is real,
    /// sizes of effect, and Holm's correction. One run a side speaks of these runs only: give
    /// several seeds as one arm (--arm) to speak of methods.
    Compare(Box<CompareArgs>),
    /// Train a policy on the logged batches, once per objective
    ///
    /// Same start, same data, same order; only the objective differs. A share of the prompts is
    /// held out and tells what each objective keeps or loses. Without --model, a small surrogate
    /// policy is fitted to the log first. Leaves replay.html, replay.md, replay.json and a token
    /// log of every arm, which this program analyses in turn.
    #[cfg(feature = "replay")]
    Replay(Box<ReplayArgs>),
    /// Show single responses: prompt, text, and the tokens that surprise
    ///
    /// Streams the log once and prints the first responses that match, with what is logged about
    /// them. Without --step, --group and --sample these are the first of the log.
    Show(ShowArgs),
    /// Write a log as canonical Parquet
    ///
    /// Nested layout (a row per response) unless --long is given; zstd, byte-stream-split floats,
    /// metadata kept. The output appears under its name only when it is complete.
    Convert(ConvertArgs),
    /// Analyse a part of a real GRPO run that is inside of the program
    Demo(DemoArgs),
    /// Keep the report of a run that goes on up to date
    ///
    /// Looks at the folder or bucket again and again, reads what is complete (steps with their STABLE
    /// marker, Parquet files with a footer, lines with an end) and replaces the report, the page last;
    /// DIR/live.html shows it and refreshes itself. Prints a line a step, and an alert when damage or
    /// a likely cause is new. Stop it with Ctrl-C or SIGTERM: the report of the last look stays, and a
    /// watch that is started again goes on from there.
    ///
    /// Exit codes: 0 after --until-idle; 1 by --fail-on or --fail-on-alert; 2 for an error that
    /// waiting does not mend, or where nothing was found before --until-idle; stopped by a signal, it
    /// ends by that signal (130 for Ctrl-C, 143 for SIGTERM in a shell).
    Watch(Box<WatchArgs>),
    /// Cut the analysis of a run into shards that many processes can read
    ///
    /// Opens every file once, resolves all options and writes them down; collect and merge take
    /// nothing but the plan.
    Plan(Box<PlanArgs>),
    /// Read one shard of a plan and write what it holds as a part
    ///
    /// Leaves part-00000.part (the shard's number) in the folder; a valid one that is there is left
    /// as it is, so a job that was cut short is simply started again.
    Collect(CollectArgs),
    /// Put the parts of all shards together: the report that one process would give
    ///
    /// Exits with 4 where exact thresholds need another look at the log: run collect with --look for
    /// every shard, then merge again.
    Merge(MergeArgs),
    /// List the devices that a replay can run on, with their memory
    #[cfg(feature = "replay")]
    Devices,
    /// Say what a cause is: what one sees, the number behind it, what looks alike, what to do
    ///
    /// Prints its page; without a name, the names of all causes.
    Explain(ExplainArgs),
    /// Print completions for a shell
    ///
    /// For example, in ~/.bashrc: source <(stapo-analyze completions bash)
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}
