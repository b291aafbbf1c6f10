//! Comparing runs: reads and analyses each, and hands them to the comparison.

pub use stapo_compare::{
    ArmInput, CompareSettings, Comparison, Metric, NamedRun, RunGroups, RunInput, Trainer, TrainerInput,
    Window, compare_runs, result,
};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::analyze::{
    analyze_for_comparison, analyze_for_comparison_cached, are_curves, merged_for_comparison,
};
use stapo_base::error::{Error, Result};
use stapo_batch::progress::Progress;
use stapo_collect::shards::{Cache, MergedParts};
use stapo_compare::names;
use stapo_compare::names::Names;
use stapo_compare::{trainer, warnings};
use stapo_ingest::{IngestSettings, Run};
use stapo_result::ComparedRun;
use stapo_store::is_url;

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
    if arms.iter().map(|arm| arm.runs.len()).sum::<usize>() < 2 {
        return Err(Error::Usage {
            message: "there is nothing to compare with".into(),
            hint: "give two runs or more; the first is the baseline".into(),
        });
    }
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
    if let Some(path) = named.iter().map(|(.., input)| &input.paths).find(|paths| are_curves(paths)) {
        return Err(Error::Usage {
            message: format!("{}: training curves, and compare reads token logs", path[0].display()),
            hint:
                "give each file to stapo-analyze alone: what curves show stands in its sentence and its page"
                    .into(),
        });
    }
    // Before the scans: a bad file is refused at once.
    let known: Vec<&str> = named.iter().map(|(name, ..)| name.as_str()).collect();
    let trainer = trainer::read(&settings.trainer, &known)?;
    let cache = settings.cache.as_deref().map(Cache::open).transpose()?;
    // Before the scans, too: a path that is wrong is not found out hours later.
    let files: Vec<BTreeSet<PathBuf>> =
        named.iter().map(|(.., input)| files_of(input)).collect::<Result<_>>()?;
    for input in settings.seeds_like.iter().flatten() {
        files_of(input)?;
    }
    let files: Vec<(&str, BTreeSet<PathBuf>)> = known.iter().copied().zip(files).collect();
    let shared = warnings::of_files(&files);
    let mut read = |input: &RunInput| match &input.paths[..] {
        [part] if is_part(part) => {
            let merged = MergedParts::open(part)?;
            merged.require_settings(&settings.analyze, ingest.steps)?;
            merged_for_comparison(merged)
        }
        paths => {
            let run = Run::open(paths, ingest)?;
            let bar = progress(&run);
            match &cache {
                None => analyze_for_comparison(&run, &settings.analyze, &bar),
                Some(cache) => Ok(analyze_for_comparison_cached(&run, &settings.analyze, cache, &bar)?.0),
            }
        }
    };
    let mut runs = Vec::with_capacity(named.len());
    for (name, arm, input) in &named {
        runs.push(NamedRun { name: name.clone(), arm: arm.clone(), analysis: read(input)? });
    }
    let mut seeds = |inputs: &Vec<RunInput>| {
        inputs.iter().map(|input| Ok(read(input)?.clusters.groups)).collect::<Result<Vec<RunGroups>>>()
    };
    let bank: Vec<Vec<RunGroups>> = settings.seeds_like.iter().map(&mut seeds).collect::<Result<_>>()?;
    let analysed: Vec<(&str, &ComparedRun)> =
        runs.iter().map(|run| (run.name.as_str(), &run.analysis)).collect();
    let copies = warnings::of_copies(&analysed, &files);
    let mut comparison = compare_runs(&runs, &bank, trainer.as_ref(), settings);
    let renamed = arm_names.changed.into_iter().chain(run_names.changed).collect();
    comparison.warnings.extend(shared.into_iter().chain(copies));
    comparison.warnings.extend(warnings::of_names(&Names::renamed(renamed)));
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
