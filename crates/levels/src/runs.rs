//! Two runs at fixed steps.

use std::collections::BTreeSet;

use crate::estimate::{Estimate, estimate};
use crate::groups::RunGroups;
use crate::least::{least_that_matters, spread_within_steps};
use crate::metric::{Metric, Window};
use crate::mix::common_steps;
use crate::result::{Clusters, NotTested, RunsLevel, RunsRow, Verdict};
use crate::scatter;
use crate::student::{ALPHA, POWER, quantile};
use crate::view::{settle_clusters, view};

/// Groups a side below which nothing is tested: their scatter does not tell what it is of.
const LEAST_GROUPS: usize = 8;
/// Degrees of freedom below which nothing is tested.
const LEAST_FREEDOM: f64 = 5.0;

/// What the user can say about a comparison of two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether rewards have no bounds: then a difference matters from a part of their scatter on, not of their range.
    pub unbounded_reward: bool,
}

/// Holds two runs against each other over the steps that both have.
#[must_use]
pub fn compare_runs(first: &RunGroups, second: &RunGroups, settings: &Settings) -> RunsLevel {
    let runs = [first, second];
    let is_logged = |metric: &Metric| runs.iter().any(|run| run.having(*metric).next().is_some());
    let mut measured: Vec<(RunsRow, f64)> = Vec::new();
    for metric in Metric::ALL.into_iter().filter(is_logged) {
        let steps = common_steps(&runs, metric);
        measured.extend(Window::ALL.map(|window| measure(runs, metric, window, &steps, settings)));
    }
    let tests = measured.iter().filter(|(row, _)| row.reason.is_none()).count();
    let steps = runs.map(|run| run.groups().map(|(key, _)| key.step).collect::<BTreeSet<_>>());
    RunsLevel {
        steps: steps[0].intersection(&steps[1]).count() as u64,
        tests: tests as u64,
        rows: measured.into_iter().map(|(row, error)| decided(row, error, tests)).collect(),
        tasks_of_one: tasks_of_one(runs),
    }
}

/// A window before it is decided, and the error of its difference.
fn measure(
    runs: [&RunGroups; 2],
    metric: Metric,
    window: Window,
    common: &[i64],
    settings: &Settings,
) -> (RunsRow, f64) {
    let steps = window.of(common);
    let mut row = RunsRow {
        metric,
        window,
        steps: steps.len() as u64,
        values: [None; 2],
        difference: None,
        half: None,
        freedom: None,
        least: None,
        detectable: None,
        clusters: None,
        lacking: runs.map(|run| lacking(run, metric)),
        verdict: Verdict::NotTested,
        reason: Some(NotTested::NotLogged),
    };
    if steps.is_empty() {
        return (row, f64::INFINITY);
    }
    if runs.iter().any(|run| run.are_means()) {
        let estimate = scatter::estimate(runs, metric, common, steps);
        row.clusters = Some(Clusters::Steps);
        let enough = [common.len() >= scatter::LEAST_COMMON, steps.len() >= scatter::LEAST_STEPS];
        row.reason = (enough != [true; 2]).then_some(NotTested::FewSteps);
        return told(row, &estimate, None);
    }
    let mut sides = [0, 1].map(|side| view(runs[side], side, metric, steps));
    let has_prompts = settle_clusters(&mut sides);
    row.clusters = Some(match has_prompts {
        true => Clusters::Prompts,
        false if runs.iter().any(|run| run.has_lone_responses()) => Clusters::Responses,
        false => Clusters::Groups,
    });
    let estimate = estimate(&sides, steps);
    let is_unbounded = settings.unbounded_reward && matches!(metric, Metric::Reward | Metric::HeldOut);
    let spread = is_unbounded.then(|| spread_within_steps(runs, metric, steps));
    row.reason = match window {
        _ if sides.iter().any(|groups| groups.len() < LEAST_GROUPS) => Some(NotTested::FewGroups),
        Window::End if steps.len() == common.len() => Some(NotTested::EndIsAll),
        _ if estimate.freedom < LEAST_FREEDOM => Some(NotTested::LittleFreedom),
        _ => None,
    };
    told(row, &estimate, spread)
}

/// A row with what was estimated.
fn told(mut row: RunsRow, estimate: &Estimate, spread: Option<f64>) -> (RunsRow, f64) {
    let Estimate { values, error, freedom, range } = *estimate;
    row.values = values.map(Some);
    row.difference = Some(values[0] - values[1]);
    row.freedom = Some(freedom);
    row.least = Some(least_that_matters(row.metric, values, range, spread));
    (row, error)
}

/// Interval and verdict agree: both are after Bonferroni over all tests.
fn decided(mut row: RunsRow, error: f64, tests: usize) -> RunsRow {
    let (None, Some(difference), Some(least), Some(freedom)) =
        (row.reason, row.difference, row.least, row.freedom)
    else {
        return row;
    };
    let half = quantile(1.0 - ALPHA / (2.0 * tests as f64), freedom) * error;
    row.verdict = match difference.abs() {
        size if size - half > least => Verdict::Differs,
        size if size + half < least => Verdict::Same,
        _ => Verdict::Open,
    };
    row.half = Some(half);
    row.detectable = Some(least + half + quantile(POWER, freedom) * error);
    row
}

/// Responses without the metric, among those that could have it.
fn lacking(run: &RunGroups, metric: Metric) -> u64 {
    let own = run.groups().filter(|(key, _)| key.held_out == metric.is_held_out());
    own.map(|(_, totals)| match metric {
        Metric::Reward | Metric::HeldOut => totals.responses - totals.rewarded,
        Metric::RightAnswers => totals.responses - totals.judged,
        Metric::Entropy if totals.entropy_tokens == 0 => totals.responses,
        Metric::Length | Metric::Entropy => 0,
    })
    .sum()
}

fn tasks_of_one(runs: [&RunGroups; 2]) -> [Vec<String>; 2] {
    let tasks = runs.map(|run| {
        let trained = run.groups().filter(|(key, _)| !key.held_out && !key.task.is_empty());
        trained.map(|(key, _)| key.task.as_str()).collect::<BTreeSet<_>>()
    });
    [0, 1].map(|side| tasks[side].difference(&tasks[1 - side]).map(|task| (*task).to_owned()).collect())
}
