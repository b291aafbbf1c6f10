//! Two runs at fixed steps.

use std::collections::BTreeSet;

use crate::estimate::{Estimate, estimate};
use crate::groups::RunGroups;
use crate::least::{least_that_matters, spread_within_steps};
use crate::metric::{Metric, Window};
use crate::result::{Clusters, NotTested, RunsLevel, RunsRow, Verdict};
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
    let mut measured: Vec<(RunsRow, Option<Estimate>)> = Vec::new();
    for metric in logged(runs) {
        let steps = common_steps(runs, metric);
        measured.extend(Window::ALL.map(|window| measure(runs, metric, window, &steps)));
    }
    let tests = measured.iter().filter(|(row, _)| row.reason.is_none()).count();
    let decided = |(row, estimate): (RunsRow, Option<Estimate>)| match estimate {
        Some(estimate) if row.reason.is_none() => {
            let at = window_steps(runs, row.metric, row.window);
            let spread = settings.unbounded_reward.then(|| spread_within_steps(runs, row.metric, &at));
            decide(row, &estimate, tests, spread)
        }
        _ => row,
    };
    let steps = runs.map(|run| run.groups().map(|(key, _)| key.step).collect::<BTreeSet<_>>());
    RunsLevel {
        steps: steps[0].intersection(&steps[1]).count() as u64,
        tests: tests as u64,
        rows: measured.into_iter().map(decided).collect(),
        tasks_of_one: tasks_of_one(runs),
    }
}

/// Metrics that a run has.
fn logged(runs: [&RunGroups; 2]) -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(move |metric| runs.iter().any(|run| run.having(*metric).next().is_some()))
}

fn common_steps(runs: [&RunGroups; 2], metric: Metric) -> Vec<i64> {
    let [first, second] = runs.map(|run| run.steps(metric));
    first.intersection(&second).copied().collect()
}

fn window_steps(runs: [&RunGroups; 2], metric: Metric, window: Window) -> Vec<i64> {
    window.of(&common_steps(runs, metric)).to_vec()
}

/// The values of a window, and their error where there is enough for one.
fn measure(
    runs: [&RunGroups; 2],
    metric: Metric,
    window: Window,
    common: &[i64],
) -> (RunsRow, Option<Estimate>) {
    let steps = window.of(common);
    let mut sides = [0, 1].map(|side| view(runs[side], side, metric, steps));
    let has_prompts = settle_clusters(&mut sides);
    let clusters = match has_prompts {
        true => Clusters::Prompts,
        false if runs.iter().any(|run| run.has_lone_responses()) => Clusters::Responses,
        false => Clusters::Groups,
    };
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
        reason: None,
    };
    let fewest = sides.iter().map(Vec::len).min().unwrap_or(0);
    if steps.is_empty() {
        row.reason = Some(NotTested::NotLogged);
        return (row, None);
    }
    let estimate = estimate(&sides, steps);
    row.values = estimate.values.map(Some);
    row.difference = Some(estimate.values[0] - estimate.values[1]);
    row.freedom = Some(estimate.freedom);
    row.clusters = Some(clusters);
    row.reason = match window {
        _ if fewest < LEAST_GROUPS => Some(NotTested::FewGroups),
        Window::End if steps.len() == common.len() => Some(NotTested::EndIsAll),
        _ if estimate.freedom < LEAST_FREEDOM => Some(NotTested::LittleFreedom),
        _ => None,
    };
    (row, Some(estimate))
}

/// Interval and verdict agree: both are after Bonferroni over all tests.
fn decide(mut row: RunsRow, estimate: &Estimate, tests: usize, spread: Option<f64>) -> RunsRow {
    let size = (estimate.values[0] - estimate.values[1]).abs();
    let half = quantile(1.0 - ALPHA / (2.0 * tests as f64), estimate.freedom) * estimate.error;
    let least = least_that_matters(row.metric, estimate.values, estimate.range, spread);
    row.verdict = if size - half > least {
        Verdict::Differs
    } else if size + half < least {
        Verdict::Same
    } else {
        Verdict::Open
    };
    row.detectable = Some(least + half + quantile(POWER, estimate.freedom) * estimate.error);
    (row.half, row.least) = (Some(half), Some(least));
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
        let trained = run.groups().filter(|(key, _)| !key.held_out);
        trained.map(|(key, _)| key.task.as_str()).collect::<BTreeSet<_>>()
    });
    [0, 1].map(|side| tasks[side].difference(&tasks[1 - side]).map(|task| (*task).to_owned()).collect())
}
