//! The main job: every quantity of the framework over a whole run, in one streaming pass.
//!
//! [`analyze()`] scans a [`Run`] once. Every worker collects counts, exact sums, histograms and
//! the tokens that matter one by one (`collect`); the parts merge in any order to the same bits,
//! and are turned into a [`RunAnalysis`] (`finish`), which is judged (`diagnosis`). Only a threshold over more
//! tokens than fit in memory takes a second look at the log.

mod curves;
mod judged;
mod partial;

pub use curves::{
    CurveAnalysis, CurveDiagnosis, CurveSteps, ReadCurve, analyze_curves, are_curves, curve_files,
};
pub(crate) use partial::lacks;
pub use partial::{analyze_partial, is_partial};
pub use stapo_base::condition::Condition;
pub use stapo_collect::flagged::FlaggedTokens;
pub use stapo_collect::plan::Purpose;
pub use stapo_collect::shards::{
    Cache, CacheUse, LookFile, MadePart, MergedParts, ShardPlan, collect_look, collect_shard, part_name,
};
pub use stapo_ingest::right::PassRule;
pub use stapo_result as result;
pub use stapo_result::gate::{Gate, Judged};
pub use stapo_result::settings::{AnalyzeSettings, BatchUnit, CONTEXT_TOKENS, MemoryLimits};
pub use stapo_result::{ComparedRun, PartialAnalysis, RunAnalysis, RunCore};

use stapo_base::error::Result;
use stapo_batch::progress::Progress;
use stapo_collect::finish::second_look::Reread;
use stapo_collect::pass;
use stapo_collect::plan::{Plan, largest_id};
use stapo_ingest::Run;
use stapo_ingest::training::of_training;
use stapo_result::Diagnosis;

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
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze_with_flagged};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let (analysis, mut flagged) = analyze_with_flagged(&run, &AnalyzeSettings::default(), &Silent)?;
/// let mut count = 0;
/// flagged.for_each(|_| {
///     count += 1;
///     Ok(())
/// })?;
/// assert_eq!(count, analysis.s2t.candidates);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze_with_flagged};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let (analysis, mut flagged) = analyze_with_flagged(&run, &AnalyzeSettings::default(), &Silent)?;
/// let mut rows = 0;
/// flagged.for_each_frame(|frame| {
///     assert!(frame.column("risk").is_ok());
///     rows += frame.height() as u64;
///     Ok(())
/// })?;
/// assert_eq!(rows, analysis.s2t.candidates);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub fn analyze_with_flagged(
    run: &Run,
    settings: &AnalyzeSettings,
    progress: &dyn Progress,
) -> Result<(RunAnalysis, FlaggedTokens)> {
    let run = &*of_training(run)?;
    let plan = Plan::new(run, settings, Purpose::Report)?;
    let look = Reread { run, progress };
    let (scan, collected) = pass::read(run, settings, &plan, &look, progress)?;
    judged::analysis(scan, plan, collected)
}

/// Analyses a whole run, and keeps all of its flagged tokens; only files that the cache does not know
/// are read. The result is that of [`analyze_with_flagged`], byte for byte.
///
/// This is what follows a run that is still written: open it anew ([`Run::open`]) whenever a file is
/// complete, and call this with the same settings and cache.
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, Cache, analyze_cached};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::open(folder.path())?;
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let settings = AnalyzeSettings::default();
/// let (first, _, used) = analyze_cached(&run, &settings, &cache, &Silent)?;
/// assert_eq!((used.read, used.reused), (1, 0));
/// let (second, _, used) = analyze_cached(&run, &settings, &cache, &Silent)?;
/// assert_eq!((used.read, used.reused), (0, 1));
/// assert_eq!(first.to_json()?, second.to_json()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn analyze_cached(
    run: &Run,
    settings: &AnalyzeSettings,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<(RunAnalysis, FlaggedTokens, CacheUse)> {
    let run = &*of_training(run)?;
    let plan = Plan::with_ids(run, settings, Purpose::Report, |run| cache.largest_id(run))?;
    let (gathered, used) = cache.gather(run, &plan, progress)?;
    let look = Reread { run, progress };
    let (scan, collected) = pass::close(run, settings, &plan, &look, gathered)?;
    let (analysis, flagged) = judged::analysis(scan, plan, collected)?;
    Ok((analysis, flagged, used))
}

/// State and causes of a run, as far as its columns go: what `check` says of it.
pub fn diagnose(run: &Run, settings: &AnalyzeSettings, progress: &dyn Progress) -> Result<Diagnosis> {
    let run = &*of_training(run)?;
    let plan = plan(run, settings, Purpose::Report, largest_id)?;
    let look = Reread { run, progress };
    let (scan, collected) = pass::read(run, settings, &plan, &look, progress)?;
    Ok(judged::core(scan, plan, collected)?.diagnosis)
}

/// What is read of a run: of one that lacks columns, as far as it goes.
fn plan(
    run: &Run,
    settings: &AnalyzeSettings,
    purpose: Purpose,
    largest_id: impl FnOnce(&Run) -> Result<u32>,
) -> Result<Plan> {
    match is_partial(run) {
        true => Plan::partial(run, settings, purpose, largest_id),
        false => Plan::with_ids(run, settings, purpose, largest_id),
    }
}

/// Analyses a whole run for a comparison: with sums by group, without what only a run's own report
/// shows.
pub fn analyze_for_comparison(
    run: &Run,
    settings: &AnalyzeSettings,
    progress: &dyn Progress,
) -> Result<ComparedRun> {
    let run = &*of_training(run)?;
    let plan = plan(run, settings, Purpose::Comparison, largest_id)?;
    let look = Reread { run, progress };
    let (scan, collected) = pass::read(run, settings, &plan, &look, progress)?;
    judged::compared(scan, plan, collected)
}

/// The same; only files that the cache does not know are read.
pub fn analyze_for_comparison_cached(
    run: &Run,
    settings: &AnalyzeSettings,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<(ComparedRun, CacheUse)> {
    let run = &*of_training(run)?;
    let plan = plan(run, settings, Purpose::Comparison, |run| cache.largest_id(run))?;
    let (gathered, used) = cache.gather(run, &plan, progress)?;
    let look = Reread { run, progress };
    let (scan, collected) = pass::close(run, settings, &plan, &look, gathered)?;
    Ok((judged::compared(scan, plan, collected)?, used))
}

/// The analysis of merged parts: what one process would give of the whole run. Fails with
/// [`Error::AnotherLook`](stapo_base::error::Error::AnotherLook) where shards have to look again first, and where a shard is missing.
pub fn analyze_merged(parts: MergedParts) -> Result<(RunAnalysis, FlaggedTokens)> {
    parts.finish(Purpose::Report, judged::analysis)
}

/// What a comparison needs of merged parts.
pub fn merged_for_comparison(parts: MergedParts) -> Result<ComparedRun> {
    parts.finish(Purpose::Comparison, judged::compared)
}
