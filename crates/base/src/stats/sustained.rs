//! Falls and rises of a series that last to its end: is there one, how large, since when.
//!
//! The mean of the last steps is held against the mean of every earlier window of 1, 2, 4, … steps; and
//! beside it, as two comparisons that are always asked for, the first steps against all others and one half of
//! the steps against the other.
//! Where the sampling error of each step is known, the difference must be beyond it, and beyond the
//! scatter from step to step that sampling does not explain; the number of windows tried is paid for
//! (Bonferroni). Where it is not known, the same statistic is taken of the series in random orders.
//! A series without change is called changed with at most [`FALSE_ALARMS`], one that only scatters
//! from step to step with at most [`SCATTER_ALARMS`].
//! A mean of the last steps also holds what was over before the end. Where they turn back on the way, beyond what
//! scatter does in [`SCATTER_ALARMS`] of the changes that last, only those since then are the last steps, and all of the
//! above must hold of them, too: an excursion is no change, and false alarms do not become more.

mod scan;

use rayon::prelude::*;

use self::scan::{Best, Scan, critical};
use super::quantile::select_quantile;
use super::random::Random;

/// How often a series without change is called fallen, and how often risen, at most.
pub const FALSE_ALARMS: f64 = 0.001;
/// The same for a series whose level scatters from step to step beyond sampling.
pub const SCATTER_ALARMS: f64 = 0.01;
/// Steps below which nothing is said.
pub const FEWEST_STEPS: usize = 4;
/// Steps below which nothing is said where sampling errors are not known: fewer have too few orders.
pub const FEWEST_UNKNOWN: usize = 8;
/// Orders that are tried; the statistic must beat all of them.
const ORDERS: u64 = 999;
/// A value this far back towards where the change came from has not left it yet.
const STILL_THERE: f64 = 0.15;
/// The median of the square of a standard normal number.
const MEDIAN_SQUARE: f64 = 0.4549;

/// The value of a series at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Step.
    pub step: i64,
    /// Value.
    pub value: f64,
    /// Its standard error by sampling; `None` where not known.
    pub error: Option<f64>,
}

named! {
    /// Which way a series went.
    pub enum Direction {
        /// Down.
        Down = "down",
        /// Up.
        Up = "up",
    }
}

/// A change that lasts to the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Which way.
    pub direction: Direction,
    /// The first step at which it has begun: not when it was complete.
    pub onset: i64,
    /// The level it left.
    pub before: f64,
    /// The mean of the last steps, not the value at `onset`.
    pub after: f64,
    /// The difference over its standard error.
    pub z: f64,
}

/// The last steps that a level is taken over.
fn tail_length(steps: usize) -> usize {
    (steps / 4).clamp(1, 25)
}

/// Looks for a change in one direction that lasts to the end; `None` where there is none, or too few
/// steps to say.
#[must_use]
pub fn sustained(points: &[Point], direction: Direction) -> Option<Change> {
    let sign = if direction == Direction::Down { 1.0 } else { -1.0 };
    let values: Vec<f64> = points.iter().map(|p| sign * p.value).collect();
    let known: Option<Vec<f64>> = points.iter().map(|p| p.error.map(|e| e * e)).collect();
    if points.len() < FEWEST_STEPS || (known.is_none() && points.len() < FEWEST_UNKNOWN) {
        return None;
    }
    let excess = scatter(&values, known.as_deref());
    let zero = || vec![0.0; values.len()];
    let variances: Vec<f64> = known.clone().unwrap_or_else(zero).iter().map(|v| v + excess).collect();
    let mut scan = Scan::new(&values, &variances, tail_length(values.len()));
    let found = |scan: &Scan| match &known {
        Some(sampling) => {
            let sampling = Scan::new(&values, sampling, scan.tail);
            let real = |best: &Best, tries: usize| best.difference() > needed(best, scan, &sampling, tries);
            let scanned = scan.best().filter(|best| real(best, scan.windows()));
            let [first, half] = [(scan.steps() / 10).max(1), scan.steps() / 2];
            let mut asked = [first, half].into_iter().filter_map(|split| scan.since(split));
            scanned.or_else(|| asked.find(|best| real(best, 1)))
        }
        None => scan.best().filter(|best| {
            (0..ORDERS).into_par_iter().all(|order| shuffled(&values, order, scan.tail, best.z()))
        }),
    };
    let mut best = found(&scan)?;
    while let Some(since) = scan.turned_back(SCATTER_ALARMS) {
        scan.tail = since;
        best = found(&scan)?;
    }
    let sampling = known.as_ref().unwrap_or(&variances);
    Some(Change {
        direction,
        onset: points[onset(&values, sampling, &variances, &best, scan.tail_mean())].step,
        // Without a negative zero.
        before: sign * best.before + 0.0,
        after: sign * scan.tail_mean() + 0.0,
        z: best.z(),
    })
}

/// The difference that is beyond scatter and beyond sampling: a third of the alarms for each of the three ways to look.
fn needed(best: &Best, scan: &Scan, sampling: &Scan, tries: usize) -> f64 {
    let beyond = |rate: f64, scan: &Scan| critical(rate / 3.0, tries) * scan.error(best);
    beyond(SCATTER_ALARMS, scan).max(beyond(FALSE_ALARMS, sampling))
}

/// Whether the values in a random order stay below `z`.
fn shuffled(values: &[f64], order: u64, tail: usize, z: f64) -> bool {
    let mut values = values.to_vec();
    Random::new(0x5157, order).shuffle(&mut values);
    let excess = scatter(&values, None);
    let variances = vec![excess; values.len()];
    Scan::new(&values, &variances, tail).best().is_none_or(|best| best.z() < z)
}

/// The variance of a step's value beyond its sampling error: from differences of neighbours, which
/// a trend or a jump hardly touches.
fn scatter(values: &[f64], known: Option<&[f64]>) -> f64 {
    let mut squares: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).collect();
    let found = select_quantile(&mut squares, 0.5).unwrap_or(0.0) / (2.0 * MEDIAN_SQUARE);
    let mut sampling = known.map_or_else(Vec::new, <[f64]>::to_vec);
    let explained = select_quantile(&mut sampling, 0.5).unwrap_or(0.0);
    let size = values.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
    // What rounding leaves is no scatter, but no certainty either.
    (found - explained).max(1e-18 * size * size)
}

/// Where the change began: the step that divides the values nearer to the level it left from those
/// nearer to the last one best, and before it those that had already left. A single step that chance
/// lifts back later does not move it.
fn onset(values: &[f64], sampling: &[f64], variances: &[f64], best: &Best, after: f64) -> usize {
    let (mut sum, mut most, mut began) = (0.0, 0.0, best.window.end);
    for i in best.window.end..values.len() - 1 {
        let square = |level: f64| (values[i] - level) * (values[i] - level);
        sum += (square(after) - square(best.before)) / variances[i];
        if sum > most {
            most = sum;
            began = i + 1;
        }
    }
    let near = STILL_THERE * best.difference();
    let has_left = |i: &usize| values[*i] <= best.before - near.max(2.0 * sampling[*i].sqrt());
    let already = (best.window.end..began).rev().take_while(has_left).count();
    began - already
}

#[cfg(test)]
mod tests;
