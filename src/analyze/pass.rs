//! A pass over a whole run: it is read, what was collected becomes the result, and the result is judged.
//!
//! Every way to analyse a run ends here, whether one process reads it, a cache knows some of it, or parts are merged.

use super::collect::Collected;
use super::diagnosis::{self, Known};
use super::finish::second_look::LookAgain;
use super::finish::{Finished, Scan};
use super::flagged::FlaggedTokens;
use super::gathered::Gathered;
use super::plan::Plan;
use super::result::{ComparedRun, RunAnalysis, RunCore};
use super::settings::AnalyzeSettings;
use crate::error::Result;
use crate::ingest::{Column, Progress, Quality, RowIndex, Run, UnitTable};

/// Reads a whole run.
pub fn read<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    plan: &Plan,
    look: &'a dyn LookAgain,
    progress: &dyn Progress,
) -> Result<(Scan<'a>, Collected)> {
    unless_missing(run, settings, look, Gathered::scan_whole(run, plan, progress)?)
}

/// Ends the pass over a whole run of which all was gathered.
pub fn close<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    plan: &Plan,
    look: &'a dyn LookAgain,
    gathered: Gathered,
) -> Result<(Scan<'a>, Collected)> {
    let (units, _) = UnitTable::new(run, &[]);
    unless_missing(run, settings, look, gathered.finish(run, &units, plan)?)
}

/// What a pass leaves, unless too much of the run is missing.
fn unless_missing<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    look: &'a dyn LookAgain,
    (collected, quality, rows): (Collected, Quality, RowIndex),
) -> Result<(Scan<'a>, Collected)> {
    let needed = [Column::Logprob, Column::Entropy, Column::Advantage, Column::AdvantageSeq, Column::Mask];
    quality.check(&needed, run.settings.allow_missing, |file| run.file_name(file))?;
    Ok((Scan { run, settings, quality, rows, look }, collected))
}

/// Turns what was collected into the result of an analysis.
pub fn analysis(scan: Scan<'_>, plan: Plan, collected: Collected) -> Result<(RunAnalysis, FlaggedTokens)> {
    let finished = Finished::new(scan, plan, collected)?;
    let (core, parts) = rayon::join(|| diagnosed(&finished), || finished.report_parts());
    let (analysis, source, text_ids) = finished.into_analysis(core, parts?);
    Ok((analysis, FlaggedTokens::new(source, text_ids)))
}

/// What every analysis finds, without what only a run's own report shows.
pub fn core(scan: Scan<'_>, plan: Plan, collected: Collected) -> Result<RunCore> {
    Ok(diagnosed(&Finished::new(scan, plan, collected)?))
}

/// Turns what was collected into what a comparison needs.
pub fn compared(scan: Scan<'_>, plan: Plan, mut collected: Collected) -> Result<ComparedRun> {
    let groups = collected.clusters.take().unwrap_or_default();
    let finished = Finished::new(scan, plan, collected)?;
    let (core, clusters) = rayon::join(|| diagnosed(&finished), || finished.clusters(groups));
    let two_rewards = finished.collected.rewards.reward.two();
    Ok(ComparedRun { core, clusters: clusters?, two_rewards })
}

/// The result with warnings and verdict.
fn diagnosed(finished: &Finished<'_>) -> RunCore {
    let Finished { run, plan, collected, source, .. } = finished;
    let mut core = finished.core();
    let known = Known { texts: &source.texts, rule: source.right.as_ref(), groups: &source.groups };
    diagnosis::diagnose(run, plan, collected, &known, &mut core);
    core
}
