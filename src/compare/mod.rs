//! Comparing runs: each is analysed, aligned with the first, and held against it with intervals,
//! tests and sizes of effect.
//!
//! [`compare`] turns named inputs into a [`Comparison`]; `result` is plain data, as of an analysis.

mod align;
mod answers;
mod by_step;
mod causes;
mod classes;
mod correction;
mod distribution;
mod fraction;
mod frames;
mod intervals;
mod join;
mod judge;
pub(crate) mod metric_names;
mod named_run;
pub(crate) mod names;
mod pairs;
mod quantities;
mod ranges;
pub mod result;
mod reward_scale;
mod settings;
pub mod shown;
mod sides;
mod stability;
mod statements;
mod testing;
mod trainer;
pub mod verdict;
mod warnings;
mod write;

pub use named_run::NamedRun;
pub use result::Comparison;
pub use settings::{ArmInput, CompareSettings, RunInput, StepAlignment, TrainerInput};
pub use trainer::Trainer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::analyze::{
    Cache, ComparedRun, MergedParts, analyze_for_comparison, analyze_for_comparison_cached,
};
use crate::error::{Error, Result};
use crate::ingest::{IngestSettings, Progress, Run};
use crate::store::is_url;
use names::Names;
use pairs::Pairs;
use quantities::metrics;
use result::{Arm, COMPARE_VERSION, RunSummary, Series, Settings};
use sides::CutRun;

/// Reads a trainer's metrics, for their errors.
#[cfg(feature = "replay")]
pub(crate) fn read_metrics(path: &std::path::Path) -> Result<()> {
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
                merged.comparison()?
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

/// Compares analysed runs; runs of one arm follow each other.
#[must_use]
pub fn compare_runs(
    runs: &[NamedRun],
    trainer: Option<&trainer::Trainer>,
    settings: &CompareSettings,
) -> Comparison {
    let groups: Vec<&[NamedRun]> = runs.chunk_by(|a, b| a.arm == b.arm).collect();
    let arms: Vec<Arm> = groups
        .iter()
        .map(|group| Arm {
            name: group[0].arm.clone(),
            runs: group.iter().map(|run| run.name.clone()).collect(),
        })
        .collect();
    let named: Vec<(String, &ComparedRun)> = runs.iter().map(|r| (r.name.clone(), &r.analysis)).collect();
    let class_entropy_cut = classes::common_cut(&named.iter().map(|(_, run)| *run).collect::<Vec<_>>());
    let sides: Vec<Vec<CutRun<'_>>> = groups
        .iter()
        .map(|group| group.iter().map(|run| CutRun::new(&run.analysis, class_entropy_cut)).collect())
        .collect();
    let all = metrics();
    let mut pairs = Pairs { warnings: warnings::of_runs(&named, &Names::default()), ..Pairs::default() };
    let asked = answers::of_steps(runs);
    for other in 1..arms.len() {
        pairs.compare([&sides[0], &sides[other]], [&arms[0], &arms[other]], &all, settings);
        let rows = answers::rows(&asked, [groups[0], groups[other]], settings);
        pairs.add_rows(rows, &arms[other].name);
        if let Some(trainer) = trainer {
            let rows = join::rows(trainer, [&arms[0], &arms[other]], settings);
            pairs.add_rows(rows, &arms[other].name);
        }
    }
    let Pairs { mut rows, missing, alignment, distributions, mut warnings } = pairs;
    for row in &mut rows {
        let other = arms.iter().position(|arm| arm.name == row.run).unwrap_or(0);
        ranges::note(row, [groups[0], groups[other]]);
        ranges::bound(row);
    }
    for (arm, group) in arms.iter().zip(&groups).skip(1) {
        if let Some(scales) = reward_scale::apart([groups[0], group]) {
            let has_answers = reward_scale::compare_answers_instead(&mut rows, &arm.name);
            warnings.push(warnings::of_scales([&arms[0], arm], scales, has_answers));
        }
    }
    correction::correct(&mut rows, settings.confidence);
    warnings.extend(warnings::of_arms(&arms, &alignment));
    warnings.extend(warnings::of_metrics(&rows, &missing));
    warnings.extend(trainer.into_iter().flat_map(|t| warnings::of_trainer(t, &arms)));
    warnings.sort_by_key(|w| w.code);
    let series = runs.iter().zip(sides.iter().flatten()).flat_map(|(run, compared)| {
        let values = sides::step_values(compared, &all).into_iter();
        values.map(|(metric, points)| Series { run: run.name.clone(), metric, points })
    });
    let series: Vec<Series> = series.chain(answers::series(&asked, runs)).collect();
    Comparison {
        schema_version: COMPARE_VERSION,
        verdict: verdict::verdict(&rows, &arms, settings.confidence),
        settings: Settings {
            program: env!("CARGO_PKG_VERSION").into(),
            preset: settings.analyze.s2t.preset(),
            draws: settings.draws as u64,
            confidence: settings.confidence,
            seed: settings.seed,
            class_entropy_cut,
        },
        runs: runs.iter().map(summary).collect(),
        alignment,
        metrics: rows,
        causes: causes::rows(&groups),
        answers: answers::side_by_side(&groups),
        distributions,
        spurious_vocabulary: distribution::spurious_vocabulary(&sides),
        warnings,
        statements: statements::statements(settings, class_entropy_cut),
        series,
        trainer: trainer.map_or_else(Vec::new, |t| join::series(t, &arms)),
        arms,
    }
}

fn summary(run: &NamedRun) -> RunSummary {
    let analysis = &run.analysis;
    RunSummary {
        name: run.name.clone(),
        arm: run.arm.clone(),
        files: analysis.provenance.files.iter().map(|f| f.path.clone()).collect(),
        steps: analysis.totals.steps,
        first_step: analysis.steps.first().map(|s| s.step),
        last_step: analysis.steps.last().map(|s| s.step),
        tokens: analysis.totals.tokens,
        responses: analysis.totals.responses,
        groups: analysis.totals.groups,
        silenced: analysis.s2t.silenced,
        gradient_source: analysis.totals.gradient_source,
        health: analysis.verdict.health.clone(),
        warnings: analysis.warnings.iter().map(|w| w.code).collect(),
        stability: stability::stability(analysis),
    }
}
