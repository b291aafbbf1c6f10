//! The level of runs: every other run against the first, at the steps of the same number.

use std::collections::BTreeSet;

use super::arms::without_scales;
use super::named_run::NamedRun;
use super::result::{Level, MetricRow, Pair, Said, SettingChange};
use stapo_levels::{
    Metric, RunGroups, RunsLevel, RunsRow, Settings, Verdict, Window, compare_by_bank, compare_runs,
    sentences,
};

/// All pairs.
#[derive(Default)]
pub struct Compared {
    pub pairs: Vec<Pair>,
    pub metrics: Vec<MetricRow>,
    pub said: Vec<Said>,
}

/// Holds every other run against the first.
pub fn compare(runs: &[NamedRun], bank: &[Vec<RunGroups>], primary: Metric) -> Compared {
    let mut found = Compared::default();
    let Some((first, others)) = runs.split_first() else { return found };
    for other in others {
        let [a, b] = &without_scales(&[first, other])[..] else { continue };
        let level = compare_runs(a, b, &Settings::default());
        let names = [first.name.as_str(), other.name.as_str()];
        let is_same = same_settings(first, other);
        let said = |level, lines: Vec<String>| Said { level, run: Some(other.name.clone()), lines };
        found.said.push(said(Level::Runs, sentences::runs(&level, names, is_same)));
        let seeds = (!bank.is_empty()).then(|| compare_by_bank(a, b, bank));
        if let Some(seeds) = &seeds {
            found.said.push(said(Level::Seeds, sentences::bank(seeds, names, primary)));
        }
        found.metrics.extend(level.rows.iter().map(|row| metric_row(row, names)));
        let steps = [first, other].map(steps);
        let only = |side: usize| steps[side].difference(&steps[1 - side]).count() as u64;
        let RunsLevel { steps: common, tests, tasks_of_one, .. } = level;
        found.pairs.push(Pair {
            name: other.name.clone(),
            against: first.name.clone(),
            steps: common,
            steps_of_one: [only(0), only(1)],
            tasks_of_one,
            tests,
            same_settings: is_same,
            settings: changed_settings(first, other),
            seeds,
        });
    }
    found
}

fn steps(run: &NamedRun) -> BTreeSet<i64> {
    run.analysis.steps.iter().map(|row| row.step).collect()
}

/// Settings that are listed at most, and letters of each.
const SETTINGS: [usize; 2] = [24, 60];

fn changed_settings(a: &NamedRun, b: &NamedRun) -> Vec<SettingChange> {
    let [a, b] = [a, b].map(|run| &run.analysis.provenance.metadata);
    let short =
        |value: Option<&String>| value.map(|value| value.chars().take(SETTINGS[1]).collect::<String>());
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let changed = names.into_iter().filter(|name| a.get(*name) != b.get(*name));
    let row = |name: &String| SettingChange {
        name: name.chars().take(SETTINGS[1]).collect(),
        baseline: short(a.get(name)),
        other: short(b.get(name)),
    };
    changed.take(SETTINGS[0]).map(row).collect()
}

/// Whether nothing but the seed is different: by the arm, or by what both logs tell of themselves.
fn same_settings(a: &NamedRun, b: &NamedRun) -> bool {
    let about = |run: &NamedRun| {
        let mut told = run.analysis.provenance.metadata.clone();
        let seed = told.remove("seed");
        seed.map(|_| told)
    };
    a.arm == b.arm || about(a).is_some_and(|told| Some(told) == about(b))
}

fn metric_row(row: &RunsRow, [first, other]: [&str; 2]) -> MetricRow {
    // There the first minus the second.
    let difference = row.difference.map(|difference| -difference);
    let bound = |side: f64| difference.zip(row.half).map(|(difference, half)| difference + side * half);
    let end = if row.window == Window::End { "_end" } else { "" };
    MetricRow {
        name: format!("{}{end}", row.metric.name()),
        metric: row.metric,
        window: row.window,
        run: other.into(),
        against: first.into(),
        steps: row.steps,
        baseline: row.values[0],
        other: row.values[1],
        difference,
        ci_low: bound(-1.0),
        ci_high: bound(1.0),
        freedom: row.freedom,
        margin: row.least,
        detectable: row.detectable,
        clusters: row.clusters,
        lacking: row.lacking,
        verdict: row.verdict,
        differs: row.verdict == Verdict::Differs,
        reason: row.reason,
    }
}
