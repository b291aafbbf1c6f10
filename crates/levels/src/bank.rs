//! Two single runs, with the scatter of seeds borrowed from a bank of runs of one recipe.

use std::f64::consts::SQRT_2;

use crate::groups::RunGroups;
use crate::metric::{Metric, Window};
use crate::mix::{Mix, common_steps};
use crate::result::{BankLevel, BankRow, NotTested, Verdict};
use crate::seeds::Scatter;
use crate::student::{ALPHA, quantile};

/// Runs of the bank below which its scatter is no guide.
const LEAST_SEEDS: usize = 3;

/// Holds two runs against each other with ± t · s · √2, s the scatter of seeds within each recipe of the bank.
#[must_use]
pub fn compare_by_bank(first: &RunGroups, second: &RunGroups, bank: &[Vec<RunGroups>]) -> BankLevel {
    let runs: Vec<&RunGroups> = [first, second].into_iter().chain(bank.iter().flatten()).collect();
    let has = |metric: &Metric| runs[..2].iter().any(|run| run.having(*metric).next().is_some());
    let metrics = Metric::ALL.into_iter().filter(has);
    let row = |metric, window| bank_row(&Mix::of(&runs, metric, window), bank, metric, window);
    BankLevel {
        steps: common_steps(&runs, Metric::Length).len() as u64,
        seeds: runs.len() as u64 - 2,
        tasks: Mix::of(&runs, Metric::Length, Window::Level).tasks,
        rows: metrics.flat_map(|metric| Window::ALL.map(|window| row(metric, window))).collect(),
    }
}

fn bank_row(mix: &Mix, bank: &[Vec<RunGroups>], metric: Metric, window: Window) -> BankRow {
    let mut values = mix.values.iter().copied();
    let [first, second] = [values.next(), values.next()];
    let recipes: Vec<Vec<f64>> = bank.iter().map(|runs| values.by_ref().take(runs.len()).collect()).collect();
    let difference = first.zip(second).map(|(a, b)| a - b);
    let scatter = Scatter::of(recipes.iter().map(Vec::as_slice), false);
    let seeds = bank.iter().map(Vec::len).sum::<usize>();
    let reason = match (mix.steps, difference, scatter) {
        (0, ..) => Some(NotTested::NotLogged),
        (_, None, _) => Some(NotTested::NoCommonTask),
        _ if seeds < LEAST_SEEDS => Some(NotTested::FewSeeds),
        (.., None) => Some(NotTested::NoScatter),
        _ => None,
    };
    let scatter = scatter.filter(|_| reason.is_none());
    let half = scatter.map(|s| quantile(1.0 - ALPHA / 2.0, s.freedom) * s.deviation * SQRT_2);
    let verdict = match difference.zip(half) {
        Some((difference, half)) if difference.abs() > half => Verdict::Differs,
        Some(_) => Verdict::Open,
        None => Verdict::NotTested,
    };
    BankRow {
        metric,
        window,
        values: [first, second],
        difference,
        half,
        freedom: scatter.map(|s| s.freedom),
        verdict,
        reason,
    }
}
