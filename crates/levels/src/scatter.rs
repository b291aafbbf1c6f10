//! The difference of two runs of which one is known by its curves alone. Steps are held against each other one by one, so
//! what two runs share (the order of the data) drops out; the error is the scatter of these differences between
//! neighbouring steps.

use stapo_base::stats::neighbours::{BLOCKS, edges, noise};

use crate::estimate::Estimate;
use crate::groups::RunGroups;
use crate::metric::Metric;

/// Common steps below which nothing is tested: second differences then leave fewer than five degrees of freedom.
pub const LEAST_COMMON: usize = 12;
/// Steps of a window below which nothing is tested: a noise that grows over the run is not seen in fewer.
pub const LEAST_STEPS: usize = 8;
/// Held-out scores are alike from one to the next (a lag-1 correlation ρ of 0.4 to 0.7 on real runs), so their neighbours
/// scatter less than they are uncertain: for ρ = 0.6 the variance in the long run, (1 + ρ) / (1 − ρ), is so many times that
/// of second differences, (6 − 8ρ + 2ρ²) / 6.
const HELD_OUT: f64 = 12.5;

/// Over `steps`, the end of all `common` ones.
pub fn estimate(runs: [&RunGroups; 2], metric: Metric, common: &[i64], steps: &[i64]) -> Estimate {
    let curves = runs.map(|run| means(run, metric, common));
    let differences: Vec<f64> = curves[0].iter().zip(&curves[1]).map(|(a, b)| a - b).collect();
    let edges = edges(common.len(), common.len().clamp(1, BLOCKS));
    let noise = noise(&differences, &edges);
    let (from, count) = (common.len() - steps.len(), steps.len() as f64);
    let of_block = |(block, variance): (usize, &f64)| {
        let rows = edges[block + 1].max(from) - edges[block].max(from);
        rows as f64 * variance
    };
    let alike = if metric.is_held_out() { HELD_OUT } else { 1.0 };
    let variance = alike * noise.variances.iter().enumerate().map(of_block).sum::<f64>() / (count * count);
    let values = [0, 1].map(|side| curves[side][from..].iter().sum::<f64>() / count);
    let range = runs.iter().filter_map(|run| run.range(metric)).fold(0.0, f64::max);
    Estimate { values, error: variance.sqrt(), freedom: noise.freedom, range }
}

/// The metric at each step.
fn means(run: &RunGroups, metric: Metric, steps: &[i64]) -> Vec<f64> {
    let mut sums = vec![[0.0; 2]; steps.len()];
    for (key, totals) in run.having(metric) {
        if let Ok(step) = steps.binary_search(&key.step) {
            let [num, den] = totals.parts(metric);
            sums[step][0] += num;
            sums[step][1] += den;
        }
    }
    sums.iter().map(|[num, den]| num / den).collect()
}
