//! The main job: every quantity of the framework over a whole run, in one streaming pass.
//!
//! [`analyze()`] scans a [`Run`] once. Every worker collects counts, exact sums, histograms and
//! the tokens that matter one by one (`collect`); the parts merge in any order to the same bits,
//! and are turned into a [`RunAnalysis`] (`finish`, `diagnosis`). Only a threshold over more
//! tokens than fit in memory takes a second look at the log.

mod answer_frames;
mod collect;
mod condition;
mod diagnosis;
mod finish;
mod flagged;
mod frames;
mod gate;
mod plan;
pub mod result;
mod settings;
pub(crate) mod texts;
mod tokenizer_json;
mod write;

pub use condition::Condition;
pub use flagged::FlaggedTokens;
pub use gate::Gate;
pub use plan::PassRule;
pub use result::{ComparedRun, RunAnalysis, RunCore};
pub use settings::{AnalyzeSettings, BatchUnit, MemoryLimits};

use crate::error::Result;
use crate::ingest::{Column, Progress, Run, Wanted, scan};
use collect::{Collected, Collector, Gates};
use finish::Scan;
use plan::{Plan, Purpose};

/// Tokens of context kept on either side of a flagged token.
pub const CONTEXT_TOKENS: usize = 12;

/// Analyses a whole run.
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let analysis = analyze(&run, &AnalyzeSettings::default(), &Silent)?;
/// assert_eq!(analysis.totals.tokens, 612_395);
/// assert_eq!(analysis.steps_frame().height(), 11);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub fn analyze(run: &Run, settings: &AnalyzeSettings, progress: &dyn Progress) -> Result<RunAnalysis> {
    analyze_with_flagged(run, settings, progress).map(|(analysis, _)| analysis)
}

/// Analyses a whole run, and keeps all of its flagged tokens.
pub fn analyze_with_flagged(
    run: &Run,
    settings: &AnalyzeSettings,
    progress: &dyn Progress,
) -> Result<(RunAnalysis, FlaggedTokens)> {
    let plan = Plan::new(run, settings, Purpose::Report)?;
    let (scan, collected) = collect(run, settings, &plan, progress)?;
    finish::analysis(scan, plan, collected)
}

/// Analyses a whole run for a comparison: with sums by group, without what only a run's own report
/// shows.
pub fn analyze_for_comparison(
    run: &Run,
    settings: &AnalyzeSettings,
    progress: &dyn Progress,
) -> Result<ComparedRun> {
    let plan = Plan::new(run, settings, Purpose::Comparison)?;
    let (scan, collected) = collect(run, settings, &plan, progress)?;
    finish::compared(scan, plan, collected)
}

/// Scans the run once.
fn collect<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    plan: &Plan,
    progress: &'a dyn Progress,
) -> Result<(Scan<'a>, Collected)> {
    let gates = Gates::new(plan);
    let workers = run.settings.worker_count();
    // Sums by group need each group's prompt once.
    let wanted = Wanted { columns: &plan.columns, prompts_by_group: true };
    let scanned = scan(run, wanted, progress, || Collector::new(plan, &gates, workers))?;
    if !run.settings.allow_missing {
        let needed = [Column::Logprob, Column::Entropy, Column::Advantage, Column::AdvantageSeq];
        scanned.quality.check(&needed, |file| run.file_name(file))?;
    }
    let collected = Collected::merge(scanned.sinks, &gates, plan);
    Ok((Scan { run, settings, quality: scanned.quality, rows: scanned.rows, progress }, collected))
}
