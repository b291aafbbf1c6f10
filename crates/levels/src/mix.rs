//! Values of many runs at one mix of tasks: each task weighs the same in each step, whatever was drawn. Plain means of
//! steps would double the scatter of seeds at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::blocks::Blocks;
use crate::groups::RunGroups;
use crate::metric::{Metric, Window};

/// Groups of every run that a task needs to count.
const TASK_GROUPS: usize = 5;

/// The values of runs over a window.
pub struct Mix {
    /// Number of steps.
    pub steps: usize,
    /// The tasks that count.
    pub tasks: Vec<String>,
    /// A value a run; empty where no task is common.
    pub values: Vec<f64>,
}

/// Steps at which all runs have the metric.
#[must_use]
pub fn common_steps(runs: &[&RunGroups], metric: Metric) -> Vec<i64> {
    let mut sets = runs.iter().map(|run| run.steps(metric));
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |common, set| common.intersection(&set).copied().collect()).into_iter().collect()
}

impl Mix {
    /// The mean over steps of the mean over tasks; steps in which a run lacks a task are taken with their neighbours.
    pub fn of(runs: &[&RunGroups], metric: Metric, window: Window) -> Self {
        let common = common_steps(runs, metric);
        let steps = window.of(&common);
        let cells: Vec<Cells> = runs.iter().map(|run| Cells::of(run, metric, steps)).collect();
        let tasks = common_tasks(&cells);
        let count = |step: usize| {
            let of_run = |cells: &Cells| tasks.iter().map(|task| cells.count(task, step)).collect::<Vec<_>>();
            cells.iter().flat_map(of_run).collect()
        };
        let counts: Vec<Vec<usize>> = (0..steps.len()).map(count).collect();
        let blocks = Blocks::of(&counts, 1);
        let values = match tasks.is_empty() {
            true => Vec::new(),
            false => cells.iter().map(|cells| cells.value(&tasks, &blocks)).collect(),
        };
        let tasks = tasks.into_iter().map(str::to_owned).collect();
        Self { steps: steps.len(), tasks, values }
    }
}

/// Totals of a run by task, a triple a step: groups, numerator, denominator.
struct Cells<'a>(BTreeMap<&'a str, Vec<(usize, f64, f64)>>);

impl<'a> Cells<'a> {
    fn of(run: &'a RunGroups, metric: Metric, steps: &[i64]) -> Self {
        let mut by_task: BTreeMap<&str, Vec<(usize, f64, f64)>> = BTreeMap::new();
        for (key, totals) in run.having(metric) {
            if let Ok(step) = steps.binary_search(&key.step) {
                let of_task = by_task.entry(&key.task).or_insert_with(|| vec![(0, 0.0, 0.0); steps.len()]);
                let (cell, [num, den]) = (&mut of_task[step], totals.parts(metric));
                *cell = (cell.0 + 1, cell.1 + num, cell.2 + den);
            }
        }
        Self(by_task)
    }

    fn count(&self, task: &str, step: usize) -> usize {
        self.0.get(task).map_or(0, |cells| cells[step].0)
    }

    fn value(&self, tasks: &[&str], blocks: &Blocks) -> f64 {
        let of_task = |task: &&str| {
            let mut totals = vec![[0.0; 2]; blocks.weights.len()];
            for ((_, num, den), block) in self.0.get(task).into_iter().flatten().zip(&blocks.of_step) {
                totals[*block][0] += num;
                totals[*block][1] += den;
            }
            totals.iter().zip(&blocks.weights).map(|([num, den], weight)| weight * num / den).sum::<f64>()
        };
        tasks.iter().map(of_task).sum::<f64>() / tasks.len() as f64
    }
}

/// Tasks with enough groups in every run.
fn common_tasks<'a>(cells: &[Cells<'a>]) -> Vec<&'a str> {
    let all: BTreeSet<&str> = cells.iter().flat_map(|cells| cells.0.keys().copied()).collect();
    let groups = |cells: &Cells<'_>, task: &str| {
        cells.0.get(task).map_or(0, |steps| steps.iter().map(|cell| cell.0).sum::<usize>())
    };
    all.into_iter().filter(|task| cells.iter().all(|cells| groups(cells, task) >= TASK_GROUPS)).collect()
}
