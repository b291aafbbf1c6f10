//! Comparing runs: each is analysed, aligned with the first, and held against it with intervals,
//! tests and sizes of effect.
//!
//! [`compare_runs`] takes analysed runs and gives a [`Comparison`]; `result` is plain data, as of an analysis.

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
pub mod metric_names;
mod named_run;
pub mod names;
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
pub mod trainer;
pub mod verdict;
pub mod warnings;
mod write;

pub use named_run::NamedRun;
pub use result::Comparison;
pub use settings::{ArmInput, CompareSettings, RunInput, StepAlignment, TrainerInput};
pub use trainer::Trainer;

use names::Names;
use pairs::Pairs;
use quantities::metrics;
use result::{Arm, COMPARE_VERSION, RunSummary, Series, Settings};
use sides::CutRun;
use stapo_result::ComparedRun;

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
