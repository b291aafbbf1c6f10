//! δ: the difference of two runs below which it does not matter. About half of what another seed changes; a judgement.

use std::collections::BTreeMap;

use stapo_base::stats::exact_sum::ExactSum;

use crate::groups::RunGroups;
use crate::metric::Metric;

/// Of the range of rewards.
const REWARD: f64 = 0.02;
/// Of a response's standard deviation within a step, for rewards without bounds.
const UNBOUNDED_REWARD: f64 = 0.05;
const RIGHT_ANSWERS: f64 = 0.02;
/// Of the mean of both values.
const LENGTH: f64 = 0.05;
/// Of the mean of both values, and in nats.
const ENTROPY: [f64; 2] = [0.1, 0.02];

/// δ of a metric; `range` is that of the groups' values, and `spread` a response's standard deviation within a step
/// where rewards have no bounds.
pub fn least_that_matters(metric: Metric, values: [f64; 2], range: f64, spread: Option<f64>) -> f64 {
    let mean = f64::midpoint(values[0], values[1]);
    match metric {
        Metric::Reward | Metric::HeldOut => spread.map_or(REWARD * range, |sd| UNBOUNDED_REWARD * sd),
        Metric::RightAnswers => RIGHT_ANSWERS,
        Metric::Length => LENGTH * mean,
        Metric::Entropy => (ENTROPY[0] * mean).max(ENTROPY[1]),
    }
}

/// The standard deviation of a response's reward within a step, of both runs together.
pub fn spread_within_steps(runs: [&RunGroups; 2], metric: Metric, steps: &[i64]) -> f64 {
    let mut within: BTreeMap<(usize, i64), (ExactSum, ExactSum, u64)> = BTreeMap::new();
    for (side, run) in runs.into_iter().enumerate() {
        for (key, totals) in run.having(metric).filter(|(key, _)| steps.contains(&key.step)) {
            let of_step = within.entry((side, key.step)).or_default();
            of_step.0.merge(&totals.reward);
            of_step.1.merge(&totals.reward_squares);
            of_step.2 += totals.rewarded;
        }
    }
    let squares = |(sum, squares, n): &(ExactSum, ExactSum, u64)| {
        (squares.value() - sum.value() * sum.value() / *n as f64).max(0.0)
    };
    let total: f64 = within.values().map(squares).sum();
    let freedom: u64 = within.values().map(|(_, _, n)| n - 1).sum();
    if freedom == 0 { 0.0 } else { (total / freedom as f64).sqrt() }
}
