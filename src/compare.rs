//! Comparing runs: reads and analyses each, and hands them to the comparison.

mod inputs;

pub use stapo_compare::{
    ArmInput, CompareSettings, Comparison, Metric, NamedRun, RunGroups, RunInput, Trainer, TrainerInput,
    Window, compare_runs, result,
};

use std::collections::BTreeSet;
use std::path::PathBuf;

use self::inputs::{Found, is_part};
use crate::analyze::{analyze_for_comparison, analyze_for_comparison_cached, lacks, merged_for_comparison};
use stapo_base::error::{Error, Result};
use stapo_batch::progress::Progress;
use stapo_collect::shards::{Cache, MergedParts};
use stapo_compare::curves::{self, CommonColumns};
use stapo_compare::names::Names;
use stapo_compare::{trainer, warnings};
use stapo_ingest::{IngestSettings, Run};
use stapo_result::ComparedRun;

/// Analyses and compares runs; the first arm is the baseline. `progress` is asked for what to tell
/// about each run.
///
/// ```
/// use stapo_analyze::compare::{ArmInput, CompareSettings, RunInput, compare};
/// use stapo_analyze::ingest::{IngestSettings, Silent};
///
/// let arm = |name: &str| {
///     let log = format!("{}/notebooks-data/real/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
///     ArmInput { name: None, runs: vec![RunInput { name: None, paths: vec![log.into()] }] }
/// };
/// let arms = [arm("healthy"), arm("dropout_1")];
/// let comparison = compare(&arms, &IngestSettings::default(), &CompareSettings::default(), |_| Silent)?;
/// assert!(comparison.metrics.iter().any(|m| m.name == "reward" && m.differs));
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub fn compare<P: Progress>(
    arms: &[ArmInput],
    ingest: &IngestSettings,
    settings: &CompareSettings,
    mut progress: impl FnMut(&Run) -> P,
) -> Result<Comparison> {
    let arms = inputs::found(arms, settings)?;
    if arms.iter().map(|arm| arm.runs.len()).sum::<usize>() < 2 {
        return Err(Error::Usage {
            message: "there is nothing to compare with".into(),
            hint: "give two runs or more; the first is the baseline".into(),
        });
    }
    let (named, renamed) = inputs::named(&arms);
    // Before the scans: a bad file is refused at once.
    let known: Vec<&str> = named.iter().map(|(name, ..)| name.as_str()).collect();
    let trainer = trainer::read(&settings.trainer, &known)?;
    let bank = inputs::bank(settings)?;
    let cache = settings.cache.as_deref().map(Cache::open).transpose()?;
    // Before the scans, too: a path that is wrong is not found out hours later.
    let files: Vec<BTreeSet<PathBuf>> =
        named.iter().map(|(.., found)| found.files()).collect::<Result<_>>()?;
    for found in bank.iter().flatten() {
        found.files()?;
    }
    let files: Vec<(&str, BTreeSet<PathBuf>)> = known.iter().copied().zip(files).collect();
    let shared = warnings::of_files(&files);
    let all = named.iter().map(|(.., found)| *found).chain(bank.iter().flatten());
    let of_curves: Vec<_> = all.filter_map(|found| found.curves.as_ref()).collect();
    let common = CommonColumns::of(&of_curves);
    let mut missing = Vec::new();
    let mut read = |found: &Found<'_>, name: &str| match (&found.curves, &found.input.paths[..]) {
        (Some(run), paths) => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let is_read = |step| ingest.steps.is_none_or(|steps| steps.contains(step));
            Ok(curves::compared(run, &common, &paths, is_read))
        }
        (None, [part]) if is_part(part) => {
            let merged = MergedParts::open(part)?;
            merged.require_settings(&settings.analyze, ingest.steps)?;
            merged_for_comparison(merged)
        }
        (None, paths) => {
            let run = Run::open(paths, ingest)?;
            let bar = progress(&run);
            missing.extend(lacks(&run).map(|(columns, how)| warnings::of_missing(name, &columns, &how)));
            match &cache {
                None => analyze_for_comparison(&run, &settings.analyze, &bar),
                Some(cache) => Ok(analyze_for_comparison_cached(&run, &settings.analyze, cache, &bar)?.0),
            }
        }
    };
    let mut runs = Vec::with_capacity(named.len());
    for (name, arm, found) in &named {
        runs.push(NamedRun { name: name.clone(), arm: arm.clone(), analysis: read(found, name)? });
    }
    let mut seeds = |all: &Vec<Found<'_>>| {
        all.iter().map(|found| Ok(read(found, "a seed")?.clusters.groups)).collect::<Result<Vec<RunGroups>>>()
    };
    let bank: Vec<Vec<RunGroups>> = bank.iter().map(&mut seeds).collect::<Result<_>>()?;
    let analysed: Vec<(&str, &ComparedRun)> =
        runs.iter().map(|run| (run.name.as_str(), &run.analysis)).collect();
    let copies = warnings::of_copies(&analysed, &files);
    let mut comparison = compare_runs(&runs, &bank, trainer.as_ref(), settings);
    comparison.warnings.extend(shared.into_iter().chain(copies).chain(missing));
    comparison.warnings.extend(warnings::of_names(&Names::renamed(renamed)));
    comparison.warnings.sort_by_key(|w| w.code);
    Ok(comparison)
}
