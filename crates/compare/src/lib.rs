//! Comparing runs: each is analysed, and held against the first at the steps that both have. Two levels of evidence, that
//! of runs and that of methods, are those of `stapo-levels`; here they meet names, causes, tokens and warnings.
//!
//! [`compare_runs`] takes analysed runs and gives a [`Comparison`]; `result` is plain data, as of an analysis.

mod arms;
mod causes;
pub mod curves;
mod frames;
mod movers;
mod named_run;
pub mod names;
mod pairs;
pub mod result;
mod reward_scale;
mod settings;
pub mod trainer;
pub mod warnings;
mod write;

pub use named_run::NamedRun;
pub use result::Comparison;
pub use settings::{ArmInput, CompareSettings, RunInput, TrainerInput};
pub use stapo_levels::sentences::decimals;
pub use stapo_levels::{Contrast, Metric, NotTested, RunGroups, StepValue, Verdict, Window};
pub use trainer::Trainer;

use pairs::Compared;
use result::{Arm, COMPARE_VERSION, RunSummary, Series, Settings};

/// Compares analysed runs; runs of one arm follow each other. `bank` holds seeds of one recipe each.
#[must_use]
pub fn compare_runs(
    runs: &[NamedRun],
    bank: &[Vec<RunGroups>],
    trainer: Option<&Trainer>,
    settings: &CompareSettings,
) -> Comparison {
    let groups: Vec<&[NamedRun]> = runs.chunk_by(|a, b| a.arm == b.arm).collect();
    let names = |group: &&[NamedRun]| Arm {
        name: group[0].arm.clone(),
        runs: group.iter().map(|run| run.name.clone()).collect(),
    };
    let arms: Vec<Arm> = groups.iter().map(names).collect();
    let totals = arms::without_scales(&runs.iter().collect::<Vec<_>>());
    let primary = settings.primary.unwrap_or_else(|| arms::primary(&totals));
    let methods = arms::methods(&groups, &totals, primary);
    let mut said = arms::said(methods.as_ref());
    let Compared { pairs, metrics, said: of_pairs } = pairs::compare(runs, bank, primary);
    said.extend(of_pairs);
    said.sort_by_key(|said| said.level);
    let mut warnings = warnings::of_runs(runs);
    warnings.extend(warnings::of_pairs(&pairs, runs));
    warnings.extend(trainer.and_then(|trainer| warnings::of_trainer(trainer, runs)));
    warnings.sort_by_key(|w| w.code);
    Comparison {
        schema_version: COMPARE_VERSION,
        runs_differ: metrics.iter().any(|row| row.verdict == Verdict::Differs),
        methods_differ: methods.iter().flat_map(|m| &m.contrasts).any(|contrast| contrast.significant),
        said,
        settings: Settings {
            program: env!("CARGO_PKG_VERSION").into(),
            preset: settings.analyze.s2t.preset(),
            primary,
        },
        runs: runs.iter().map(summary).collect(),
        pairs,
        metrics,
        methods,
        causes: causes::rows(&groups),
        movers: groups.iter().skip(1).map(|arm| movers::movers([groups[0], arm], &arm[0].arm)).collect(),
        spurious_vocabulary: movers::spurious_vocabulary(&groups),
        warnings,
        series: runs.iter().flat_map(series).collect(),
        trainer: trainer.map_or_else(Vec::new, |trainer| trainer.series.clone()),
        arms,
    }
}

fn series(run: &NamedRun) -> impl Iterator<Item = Series> + '_ {
    let of = |metric: Metric| Series {
        run: run.name.clone(),
        metric: metric.name().into(),
        points: run.analysis.clusters.groups.curve(metric),
    };
    Metric::ALL.into_iter().map(of).filter(|series| !series.points.is_empty())
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
        in_characters: analysis.in_characters,
        state: analysis.diagnosis.state,
        health: analysis.verdict.health.clone(),
        warnings: analysis.warnings.iter().map(|w| w.code).collect(),
    }
}
