//! The cluster bootstrap over sufficient statistics: steps are drawn in blocks, jointly for both
//! sides where they are paired, then the groups of every step.
//!
//! Drawing steps alone already carries the scatter of the groups within them, since the sums of a
//! step scatter with its groups; it falls short by the factor (n − 1)/n of n blocks. The second
//! stage gives that back: deviations from drawing groups count with the weight 1/√n, all of it with
//! one step, almost nothing with many.

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::quantile::linear_quantile;
use super::random::Random;

/// The clusters of both sides at one step: `K` sums each.
#[derive(Clone, Debug)]
pub struct Stratum<const K: usize> {
    /// The clusters of each side.
    pub sides: [Vec<[f64; K]>; 2],
    /// Whether clusters of the same place belong together; they are then as many on both sides.
    pub paired: bool,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Units {
    /// Blocks of so many steps, then groups within them.
    Steps {
        /// Steps of a block.
        block: usize,
        /// Whether both sides take the same steps.
        joint: bool,
    },
    /// Groups, at fixed steps.
    Groups,
}

/// The sums of both sides over all clusters.
#[must_use]
pub fn totals<const K: usize>(strata: &[Stratum<K>]) -> [[f64; K]; 2] {
    [0, 1].map(|side| {
        let mut sum = [0.0; K];
        strata.iter().flat_map(|s| &s.sides[side]).for_each(|cluster| add(&mut sum, cluster, 1.0));
        sum
    })
}

/// The sums of both sides in `draws` draws. Each draw has its own stream of random numbers, so the
/// result is the same for any number of threads.
#[must_use]
pub fn resample<const K: usize>(
    strata: &[Stratum<K>],
    units: Units,
    draws: usize,
    seed: u64,
) -> Vec<[[f64; K]; 2]> {
    let own: Vec<[[f64; K]; 2]> = strata.iter().map(|s| totals(std::slice::from_ref(s))).collect();
    (0..draws as u64)
        .into_par_iter()
        .map(|draw| one_draw(strata, &own, units, &mut Random::new(seed, draw)))
        .collect()
}

fn one_draw<const K: usize>(
    strata: &[Stratum<K>],
    own: &[[[f64; K]; 2]],
    units: Units,
    random: &mut Random,
) -> [[f64; K]; 2] {
    let mut sums = [[0.0; K]; 2];
    match units {
        Units::Groups => {
            for stratum in strata {
                add_both(&mut sums, &drawn_groups(stratum, [true; 2], random), 1.0);
            }
        }
        Units::Steps { block, joint } => {
            let weight = (block as f64 / strata.len().max(1) as f64).min(1.0).sqrt();
            let passes: &[[bool; 2]] = if joint { &[[true; 2]] } else { &[[true, false], [false, true]] };
            for taken in passes {
                let mut left = strata.len();
                while left > 0 {
                    let start = random.below(strata.len());
                    for offset in 0..block.clamp(1, left) {
                        let step = (start + offset) % strata.len();
                        let groups = drawn_groups(&strata[step], *taken, random);
                        for side in [0, 1].into_iter().filter(|side| taken[*side]) {
                            add(&mut sums[side], &own[step][side], 1.0 - weight);
                            add(&mut sums[side], &groups[side], weight);
                        }
                    }
                    left -= block.clamp(1, left);
                }
            }
        }
    }
    sums
}

/// As many groups as the step has, drawn from them.
fn drawn_groups<const K: usize>(
    stratum: &Stratum<K>,
    taken: [bool; 2],
    random: &mut Random,
) -> [[f64; K]; 2] {
    let mut sums = [[0.0; K]; 2];
    let [left, right] = &stratum.sides;
    if left.len() == 1 && right.len() == 1 {
        return [left[0], right[0]];
    }
    if stratum.paired && taken == [true; 2] {
        for _ in 0..left.len() {
            let group = random.below(left.len());
            add(&mut sums[0], &left[group], 1.0);
            add(&mut sums[1], &right[group], 1.0);
        }
        return sums;
    }
    for side in [0, 1].into_iter().filter(|side| taken[*side]) {
        let clusters = &stratum.sides[side];
        for _ in 0..clusters.len() {
            add(&mut sums[side], &clusters[random.below(clusters.len())], 1.0);
        }
    }
    sums
}

#[inline(always)]
fn add<const K: usize>(into: &mut [f64; K], from: &[f64; K], weight: f64) {
    for (a, b) in into.iter_mut().zip(from) {
        *a += weight * b;
    }
}

fn add_both<const K: usize>(into: &mut [[f64; K]; 2], from: &[[f64; K]; 2], weight: f64) {
    into.iter_mut().zip(from).for_each(|(a, b)| add(a, b, weight));
}

/// The interval that `draws` of a statistic give at a level of confidence: percentiles, moved
/// outwards as Student's t of n independent units is wider than the normal distribution, and as
/// drawing n of n falls short of the variance (Hesterberg's expanded percentiles). `None` with
/// fewer than two units or draws.
#[must_use]
pub fn interval(draws: &[f64], confidence: f64, independent: usize) -> Option<[f64; 2]> {
    let mut sorted: Vec<f64> = draws.iter().copied().filter(|d| d.is_finite()).collect();
    if sorted.len() < 2 || independent < 2 {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let n = independent as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let tail = Normal::standard().sf(student * (n / (n - 1.0)).sqrt());
    Some([linear_quantile(&sorted, tail)?, linear_quantile(&sorted, 1.0 - tail)?])
}

/// An interval widened about `centre`.
#[must_use]
pub fn widened([low, high]: [f64; 2], centre: f64, factor: f64) -> [f64; 2] {
    [centre + factor * (low - centre), centre + factor * (high - centre)]
}

/// The interval of a mean by Student's t, from `values` that are independent.
#[must_use]
pub fn t_interval(values: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = student * (variance / n).sqrt();
    Some([mean - half, mean + half])
}

/// The interval of the difference of two means (`right` − `left`) by Welch's t.
#[must_use]
pub fn welch_interval(left: &[f64], right: &[f64], confidence: f64) -> Option<[f64; 2]> {
    if left.len() < 2 || right.len() < 2 {
        return None;
    }
    let parts = [left, right].map(|values| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0) / n, n - 1.0)
    });
    let difference = parts[1].0 - parts[0].0;
    let variance = parts[0].1 + parts[1].1;
    if variance <= 0.0 {
        return Some([difference; 2]);
    }
    let freedom = variance * variance / parts.iter().map(|p| p.1 * p.1 / p.2).sum::<f64>();
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = student * variance.sqrt();
    Some([difference - half, difference + half])
}
