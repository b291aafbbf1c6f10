//! The main job: every quantity of the framework over a whole run, in one streaming pass.
//!
//! [`analyze()`] scans a [`Run`] once. Every worker collects counts, exact sums, histograms and
//! the tokens that matter one by one (`collect`); the parts merge in any order to the same bits,
//! and are turned into a [`RunAnalysis`] (`finish`, `diagnosis`). Only a threshold over more
//! tokens than fit in memory takes a second look at the log.

mod collect;
mod condition;
mod diagnosis;
mod finish;
mod gate;
mod plan;
pub mod result;
mod settings;
pub(crate) mod texts;
mod tokenizer_json;
mod write;

pub use condition::Condition;
pub use gate::Gate;
pub use result::RunAnalysis;
pub use settings::{AnalyzeSettings, BatchUnit, MemoryLimits};
pub(crate) use write::{TABLES, Table};

use crate::error::Result;
use crate::ingest::{Column, Progress, Run, Wanted, scan};
use collect::{Collected, Collector, Gates};
use finish::Scan;
use plan::Plan;

/// Tokens of context kept on either side of a flagged token.
pub const CONTEXT_TOKENS: usize = 12;

/// Analyses a whole run.
pub fn analyze(run: &Run, settings: &AnalyzeSettings, progress: &dyn Progress) -> Result<RunAnalysis> {
    let plan = Plan::new(run, settings)?;
    let gates = Gates::new(&plan);
    let workers = run.settings.worker_count();
    // Sums by group need each group's prompt once.
    let wanted = Wanted { columns: &plan.columns, prompts_by_group: true };
    let scanned = scan(run, wanted, progress, || Collector::new(&plan, &gates, workers))?;
    if !run.settings.allow_missing {
        let needed = [Column::Logprob, Column::Entropy, Column::Advantage, Column::AdvantageSeq];
        scanned.quality.check(&needed, |file| run.file_name(file))?;
    }
    let collected = Collected::merge(scanned.sinks, &gates, &plan);
    let rest = Scan { run, settings, quality: scanned.quality, rows: scanned.rows, progress };
    finish::finish(rest, plan, collected)
}
