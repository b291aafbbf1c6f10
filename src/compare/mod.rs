//! Comparing runs: each is analysed, aligned with the first, and held against it with intervals,
//! tests and sizes of effect.
//!
//! [`compare`] turns named inputs into a [`Comparison`]; `result` is plain data, as of an analysis.

mod align;
mod distribution;
mod frames;
mod join;
mod judge;
mod names;
mod quantities;
pub mod result;
mod settings;
mod sides;
mod stability;
mod trainer;
pub mod verdict;
mod warnings;
mod write;

pub use result::Comparison;
pub use settings::{ArmInput, CompareSettings, RunInput, StepAlignment};
pub use trainer::Trainer;

use crate::analyze::{ComparedRun, analyze_for_comparison};
use crate::error::{Error, Result};
use crate::ingest::{IngestSettings, Progress, Run};
use crate::stats::holm;
use judge::Judge;
use names::Names;
use quantities::{Metric, metrics};
use result::{AlignmentSummary, Arm, COMPARE_VERSION, Family, MetricRow, RunSummary, Series, Settings};
use sides::{Side, Sides};

/// Reads a trainer's metrics, for their errors.
pub(crate) fn read_metrics(path: &std::path::Path) -> Result<()> {
    trainer::read(path).map(|_| ())
}

/// An analysed run with its name.
pub struct NamedRun {
    /// Its name.
    pub name: String,
    /// The name of its arm.
    pub arm: String,
    /// Its analysis, with sums by group.
    pub analysis: ComparedRun,
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
    let trainer = settings.trainer.as_deref().map(trainer::read).transpose()?;
    let mut arm_names = Names::default();
    let mut run_names = Names::default();
    let mut runs = Vec::new();
    for arm in arms {
        let wanted = arm.name.clone().or_else(|| arm.runs.first().map(names::of_input));
        let arm_name = arm_names.free(&wanted.unwrap_or_default());
        for input in &arm.runs {
            // A run that is its own arm has the arm's name, else they would be told apart twice.
            let name = match &arm.name {
                None => run_names.free(&arm_name),
                Some(_) => run_names.free(&names::of_input(input)),
            };
            let run = Run::open(&input.paths, ingest)?;
            let analysis = analyze_for_comparison(&run, &settings.analyze, &progress(&run))?;
            runs.push(NamedRun { name, arm: arm_name.clone(), analysis });
        }
    }
    let mut comparison = compare_runs(&runs, trainer.as_ref(), settings);
    let renamed = arm_names.changed.into_iter().chain(run_names.changed).collect();
    comparison.warnings.extend(warnings::of_runs(&[], &Names::renamed(renamed)));
    comparison.warnings.sort_by_key(|w| w.code);
    Ok(comparison)
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
        return refuse(format!("{} draws", settings.draws), "give a number from 100 to 100000");
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
    let analyses: Vec<Vec<&ComparedRun>> =
        groups.iter().map(|group| group.iter().map(|run| &run.analysis).collect()).collect();
    let named: Vec<(String, &ComparedRun)> = runs.iter().map(|r| (r.name.clone(), &r.analysis)).collect();
    let all = metrics();
    let mut parts = Parts { warnings: warnings::of_runs(&named, &Names::default()), ..Parts::default() };
    for other in 1..arms.len() {
        parts.compare([&analyses[0], &analyses[other]], [&arms[0], &arms[other]], &all, settings);
        if let Some(trainer) = trainer {
            let rows = join::rows(trainer, [&arms[0], &arms[other]], settings);
            parts.add_rows(rows, &arms[other].name);
        }
    }
    adjust(&mut parts.rows, settings.confidence);
    parts.warnings.extend(warnings::of_metrics(&parts.rows, &parts.missing));
    parts.warnings.extend(trainer.into_iter().flat_map(|t| warnings::of_trainer(t, &arms, settings)));
    parts.warnings.sort_by_key(|w| w.code);
    let of_run = |run: &NamedRun| {
        let values = sides::step_values(&run.analysis, &all).into_iter();
        values.map(|(metric, points)| Series { run: run.name.clone(), metric, points }).collect::<Vec<_>>()
    };
    let late =
        |run: &NamedRun| Some((run.name.clone(), run.analysis.entropy_profiles.last()?.entropy.clone()));
    Comparison {
        schema_version: COMPARE_VERSION,
        verdict: verdict::verdict(&parts.rows, &arms, settings.confidence),
        settings: Settings {
            program: env!("CARGO_PKG_VERSION").into(),
            preset: settings.analyze.preset_name().into(),
            draws: settings.draws as u64,
            confidence: settings.confidence,
            seed: settings.seed,
        },
        runs: runs.iter().map(summary).collect(),
        alignment: parts.alignment,
        metrics: parts.rows,
        distributions: parts.distributions,
        spurious_vocabulary: distribution::spurious_vocabulary(&analyses),
        warnings: parts.warnings,
        statements: statements(settings),
        series: runs.iter().flat_map(of_run).collect(),
        trainer: trainer.map_or_else(Vec::new, |t| join::series(t, &arms)),
        profiles: runs.iter().filter_map(late).collect(),
        arms,
    }
}

/// What comparing pairs of arms gives, piece by piece.
#[derive(Default)]
struct Parts {
    rows: Vec<MetricRow>,
    missing: Vec<(Metric, String)>,
    alignment: Vec<AlignmentSummary>,
    distributions: Vec<result::DistributionChange>,
    warnings: Vec<result::CompareWarning>,
}

impl Parts {
    fn compare(
        &mut self,
        runs: [&[&ComparedRun]; 2],
        arms: [&Arm; 2],
        all: &[Metric],
        settings: &CompareSettings,
    ) {
        let pair = runs.map(|runs| Side { runs });
        let sides = Sides::new(pair[0], pair[1], settings.alignment);
        let mut judge = Judge::new(&sides, pair, settings);
        let is_known = |metric: &&Metric| runs.iter().all(|runs| runs.iter().all(|run| metric.is_known(run)));
        let known: Vec<&Metric> = all.iter().filter(is_known).collect();
        let rows: Vec<MetricRow> = judge.metrics(&known).into_iter().flatten().collect();
        for metric in all.iter().filter(|metric| rows.iter().all(|row| row.name != metric.name)) {
            let known_somewhere = runs.iter().any(|runs| runs.iter().any(|run| metric.is_known(run)));
            if known_somewhere && metric.family == Family::Framework {
                self.missing.push((metric.clone(), arms[1].name.clone()));
            }
        }
        self.add_rows(rows, &arms[1].name);
        self.warnings.extend(warnings::of_sides(&sides, arms[0], arms[1]));
        self.alignment.push(AlignmentSummary {
            run: arms[1].name.clone(),
            method: sides.alignment.method,
            steps: sides.len() as u64,
            baseline_unaligned: sides.unaligned[0] as u64,
            other_unaligned: sides.unaligned[1] as u64,
            prompts: sides.prompts.paired as u64,
            baseline_groups_unaligned: sides.prompts.unpaired[0] as u64,
            other_groups_unaligned: sides.prompts.unpaired[1] as u64,
            prompts_logged: sides.prompts.logged,
        });
        let mut change = distribution::change(pair, settings);
        change.run.clone_from(&arms[1].name);
        self.distributions.push(change);
    }

    fn add_rows(&mut self, rows: Vec<MetricRow>, run: &str) {
        self.rows.extend(rows.into_iter().map(|row| MetricRow { run: run.to_owned(), ..row }));
    }
}

/// Holm's correction within each family, over all arms.
fn adjust(rows: &mut [MetricRow], confidence: f64) {
    for family in Family::ALL {
        let places: Vec<usize> = (0..rows.len()).filter(|i| rows[*i].family == family).collect();
        let p: Vec<f64> = places.iter().map(|i| rows[*i].p_value.unwrap_or(f64::NAN)).collect();
        for (place, adjusted) in places.into_iter().zip(holm::adjusted(&p)) {
            let row = &mut rows[place];
            row.p_adjusted = Some(adjusted).filter(|p| !p.is_nan());
            row.significant = adjusted <= 1.0 - confidence + 1e-12;
        }
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
        warnings: analysis.warnings.iter().map(|w| w.code.name().to_owned()).collect(),
        stability: stability::stability(analysis),
    }
}

fn statements(settings: &CompareSettings) -> Vec<String> {
    vec![
        format!(
            "Intervals are at {} %, from {} draws with seed {}: steps are drawn with replacement, jointly for both runs where they are aligned by number, then the groups of each step; percentiles are moved outwards as Student's t asks for so few steps. With fewer than 6 aligned steps only groups are drawn, and the interval is of these steps.",
            verdict::level(settings.confidence),
            crate::format::grouped(settings.draws as u64),
            settings.seed
        ),
        "Tests are two-sided: Wilcoxon's signed ranks of the differences at aligned steps (of prompts where fewer than 9 steps are aligned and prompts are logged), Mann–Whitney where nothing is paired. They ask whether these runs differ at these steps by more than the sampling of prompts and responses.".into(),
        "Where neighbouring steps differ alike (correlation about the straight trend of the difference), blocks of steps are counted in test and interval. A steady drift of one run away from the other counts as a difference of these runs; whether the next pair of runs would drift apart the same way, only more seeds can tell.".into(),
        format!(
            "p-values are corrected after Holm within each family (metrics of the framework, shares of classes, trainer scalars), over all runs. Called different is what stays at or below {}.",
            crate::format::number(1.0 - settings.confidence)
        ),
        "Values are means over the aligned steps by tokens, responses or energy, so long steps weigh more; the test gives every step the same weight.".into(),
        "Intervals of regions and tokens come from 16 random groups of prompts and are not corrected for having picked the largest changes.".into(),
        "Runs trained with different masks see different tokens: a difference is of the whole run, not of the mask on the same tokens.".into(),
    ]
}
