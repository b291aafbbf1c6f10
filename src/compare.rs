//! Comparing runs: reads and analyses each, and hands them to the comparison.

pub use stapo_compare::{
    ArmInput, CompareSettings, Comparison, NamedRun, RunInput, StepAlignment, Trainer, TrainerInput,
    compare_runs, result, shown, verdict,
};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::analyze::{analyze_for_comparison, analyze_for_comparison_cached, merged_for_comparison};
use stapo_base::error::{Error, Result};
use stapo_batch::progress::Progress;
use stapo_collect::shards::{Cache, MergedParts};
use stapo_compare::names;
use stapo_compare::names::Names;
use stapo_compare::{trainer, warnings};
use stapo_ingest::{IngestSettings, Run};
use stapo_result::ComparedRun;
use stapo_store::is_url;

/// Reads a trainer's metrics, for their errors.
#[cfg(feature = "replay")]
pub(crate) fn read_metrics(path: &Path) -> Result<()> {
    // A run of some name, so that files of one run are read, too.
    let input = TrainerInput { run: Some("run".into()), path: path.to_owned() };
    trainer::read(&[input], &[]).map(|_| ())
}

/// Analyses and compares runs; the first arm is the baseline. `progress` is asked for what to tell
/// about each run.
///
/// ```
/// use stapo_analyze::compare::{ArmInput, CompareSettings, RunInput, compare};
/// use stapo_analyze::ingest::{IngestSettings, Silent};
///
/// let arm = |name: &str| {
///     let log = format!("{}/notebooks-data/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
///     ArmInput { name: None, runs: vec![RunInput { name: None, paths: vec![log.into()] }] }
/// };
/// let arms = [arm("grpo"), arm("stapo")];
/// let comparison = compare(&arms, &IngestSettings::default(), &CompareSettings::default(), |_| Silent)?;
/// assert!(comparison.metrics.iter().any(|m| m.name == "entropy" && m.significant));
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub fn compare<P: Progress>(
    arms: &[ArmInput],
    ingest: &IngestSettings,
    settings: &CompareSettings,
    mut progress: impl FnMut(&Run) -> P,
) -> Result<Comparison> {
    check(arms, settings)?;
    let mut arm_names = Names::default();
    let mut run_names = Names::default();
    let mut named = Vec::new();
    for arm in arms {
        let wanted = arm.name.clone().or_else(|| arm.runs.first().map(names::of_input));
        let arm_name = arm_names.free(&wanted.unwrap_or_default());
        for input in &arm.runs {
            // A run that is its own arm has the arm's name, else they would be told apart twice.
            let name = match &arm.name {
                None => run_names.free(&arm_name),
                Some(_) => run_names.free(&names::of_input(input)),
            };
            named.push((name, arm_name.clone(), input));
        }
    }
    // Before the scans: a bad file is refused at once.
    let known: Vec<&str> = named.iter().map(|(name, ..)| name.as_str()).collect();
    let trainer = trainer::read(&settings.trainer, &known)?;
    let cache = settings.cache.as_deref().map(Cache::open).transpose()?;
    // Before the scans, too: a path that is wrong is not found out hours later.
    let files: Vec<BTreeSet<PathBuf>> =
        named.iter().map(|(.., input)| files_of(input)).collect::<Result<_>>()?;
    let files: Vec<(&str, BTreeSet<PathBuf>)> = known.iter().copied().zip(files).collect();
    let shared = warnings::of_files(&files);
    let mut runs = Vec::with_capacity(named.len());
    for (name, arm, input) in &named {
        let analysis = match &input.paths[..] {
            [part] if is_part(part) => {
                let merged = MergedParts::open(part)?;
                merged.require_settings(&settings.analyze, ingest.steps)?;
                merged_for_comparison(merged)?
            }
            paths => {
                let run = Run::open(paths, ingest)?;
                let bar = progress(&run);
                match &cache {
                    None => analyze_for_comparison(&run, &settings.analyze, &bar)?,
                    Some(cache) => analyze_for_comparison_cached(&run, &settings.analyze, cache, &bar)?.0,
                }
            }
        };
        runs.push(NamedRun { name: name.clone(), arm: arm.clone(), analysis });
    }
    let analysed: Vec<(&str, &ComparedRun)> =
        runs.iter().map(|run| (run.name.as_str(), &run.analysis)).collect();
    let copies = warnings::of_copies(&analysed, &files);
    let mut comparison = compare_runs(&runs, trainer.as_ref(), settings);
    let renamed = arm_names.changed.into_iter().chain(run_names.changed).collect();
    comparison.warnings.extend(shared.into_iter().chain(copies));
    comparison.warnings.extend(warnings::of_runs(&[], &Names::renamed(renamed)));
    comparison.warnings.sort_by_key(|w| w.code);
    Ok(comparison)
}

/// The files behind an input, each by the one name that all its names have in common.
fn files_of(input: &RunInput) -> Result<BTreeSet<PathBuf>> {
    let own = |path: PathBuf| path.canonicalize().unwrap_or(path);
    match &input.paths[..] {
        [part] if is_part(part) => match is_url(part) || part.exists() {
            true => Ok([own(part.clone())].into()),
            false => Err(Error::NotFound { path: part.clone() }),
        },
        paths => Ok(Run::glance(paths)?.into_iter().map(|(path, _)| own(path)).collect()),
    }
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
}

fn check(arms: &[ArmInput], settings: &CompareSettings) -> Result<()> {
    let refuse = |message: String, hint: &str| Err(Error::Usage { message, hint: hint.into() });
    if arms.len() < 2 {
        return refuse(
            "there is nothing to compare with".into(),
            "give two runs or more; the first is the baseline",
        );
    }
    if !(settings.confidence > 0.5 && settings.confidence < 1.0) {
        return refuse(
            format!("the confidence is {}", settings.confidence),
            "give a number between 0.5 and 1",
        );
    }
    if !(100..=100_000).contains(&settings.draws) {
        return refuse(
            format!("the bootstrap cannot take {} draws", settings.draws),
            "give --draws a number from 100 to 100000",
        );
    }
    Ok(())
}
