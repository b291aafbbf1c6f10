//! The cluster bootstrap over sufficient statistics: steps are drawn, jointly for both sides where
//! they are paired, then the groups of every step.
//!
//! Drawing steps alone already carries the scatter of the groups within them, since the sums of a
//! step scatter with its groups; it falls short by the factor (n − 1)/n of n steps. The second
//! stage gives that back: deviations from drawing groups count with the weight 1/√n, all of it with
//! one step, almost nothing with many.

use std::cmp::Ordering;

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::quantile::linear_quantile;
use super::random::Random;
use crate::simd::{Work, widest};

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
    /// Steps, then groups within them.
    Steps {
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
    let order = order(strata);
    match units {
        Units::Steps { joint } => DrawnSteps::new(strata, seed).resample(joint, draws, seed),
        Units::Groups => (0..draws as u64)
            .into_par_iter()
            .map(|draw| {
                let mut sums = [[0.0; K]; 2];
                let mut random = Random::new(seed, draw);
                for stratum in strata {
                    let groups = drawn_groups(stratum, order, &mut random);
                    sums.iter_mut().zip(&groups).for_each(|(sum, groups)| add(sum, groups, 1.0));
                }
                sums
            })
            .collect(),
    }
}

/// The order in which sides are drawn: by their values, not by which is called the first, so that swapping
/// them mirrors every draw.
fn order<const K: usize>(strata: &[Stratum<K>]) -> [usize; 2] {
    let by_values = |stratum: &Stratum<K>| {
        let [left, right] = &stratum.sides;
        let pairs = left.iter().flatten().zip(right.iter().flatten());
        let values = pairs.map(|(a, b)| a.total_cmp(b)).find(|found| found.is_ne());
        left.len().cmp(&right.len()).then(values.unwrap_or(Ordering::Equal))
    };
    match strata.iter().map(by_values).find(|found| found.is_ne()) {
        Some(Ordering::Greater) => [1, 0],
        _ => [0, 1],
    }
}

/// Steps whose groups are drawn beforehand, so that drawing steps need not draw groups every time.
pub struct DrawnSteps<const K: usize> {
    steps: Vec<DrawnStep<K>>,
    order: [usize; 2],
}

struct DrawnStep<const K: usize> {
    own: [[f64; K]; 2],
    /// As many groups as the step has, drawn from them, several times.
    groups: Vec<[[f64; K]; 2]>,
}

/// Groups are drawn so often over all steps: few times a step are enough where there are many.
const GROUP_DRAWS: usize = 20_000;
/// The fewest of one step.
const FEWEST_GROUP_DRAWS: usize = 16;

impl<const K: usize> DrawnSteps<K> {
    /// Draws the groups.
    #[must_use]
    pub fn new(strata: &[Stratum<K>], seed: u64) -> Self {
        let often = (GROUP_DRAWS / strata.len().max(1)).max(FEWEST_GROUP_DRAWS);
        let order = order(strata);
        let drawn = strata.par_iter().enumerate().map(|(step, stratum)| {
            let single = stratum.sides.iter().all(|clusters| clusters.len() < 2);
            let draws = if single { 1 } else { often };
            // Streams from the end, so that they are not those of the draws of steps.
            let random = Random::new(seed, u64::MAX - step as u64);
            widest(GroupDraws { stratum, order, draws, random })
        });
        Self { steps: drawn.collect(), order }
    }

    /// The sums of both sides in `draws` draws of steps.
    #[must_use]
    pub fn resample(&self, joint: bool, draws: usize, seed: u64) -> Vec<[[f64; K]; 2]> {
        let one = |draw: usize| self.draw(joint, &mut Random::new(seed, draw as u64));
        (0..draws).into_par_iter().map(one).collect()
    }

    fn draw(&self, joint: bool, random: &mut Random) -> [[f64; K]; 2] {
        let steps = &self.steps;
        let mut sums = [[0.0; K]; 2];
        let weight = (1.0 / steps.len().max(1) as f64).sqrt();
        let [first, second] = self.order;
        let passes: &[&[usize]] = if joint { &[&[0, 1]] } else { &[&[first], &[second]] };
        for sides in passes {
            for _ in 0..steps.len() {
                let step = &steps[random.below(steps.len())];
                let groups = &step.groups[random.below(step.groups.len())];
                for side in *sides {
                    add(&mut sums[*side], &step.own[*side], 1.0 - weight);
                    add(&mut sums[*side], &groups[*side], weight);
                }
            }
        }
        sums
    }
}

/// Drawings of a step's groups, whose sums are added up in lanes.
struct GroupDraws<'a, const K: usize> {
    stratum: &'a Stratum<K>,
    order: [usize; 2],
    draws: usize,
    random: Random,
}

impl<const K: usize> Work for GroupDraws<'_, K> {
    type Output = DrawnStep<K>;

    #[inline(always)]
    fn call(mut self) -> DrawnStep<K> {
        DrawnStep {
            own: totals(std::slice::from_ref(self.stratum)),
            groups: (0..self.draws)
                .map(|_| drawn_groups(self.stratum, self.order, &mut self.random))
                .collect(),
        }
    }
}

/// As many groups as the step has, drawn from them.
#[inline(always)]
fn drawn_groups<const K: usize>(
    stratum: &Stratum<K>,
    order: [usize; 2],
    random: &mut Random,
) -> [[f64; K]; 2] {
    let mut sums = [[0.0; K]; 2];
    let [left, right] = &stratum.sides;
    if stratum.paired {
        for _ in 0..left.len() {
            let group = random.below(left.len());
            add(&mut sums[0], &left[group], 1.0);
            add(&mut sums[1], &right[group], 1.0);
        }
        return sums;
    }
    for side in order {
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
    // The upper bound as the lower one of the mirrored draws: the same to the bit, whichever way round.
    let mirrored: Vec<f64> = sorted.iter().rev().map(|draw| 0.0 - draw).collect();
    Some([linear_quantile(&sorted, tail)?, 0.0 - linear_quantile(&mirrored, tail)?])
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
    let variance = squares_about_mean(values) / (n - 1.0);
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = student * (variance / n).sqrt();
    Some([mean - half, mean + half])
}

/// Σ (v − mean)², about the mean of the values themselves.
#[must_use]
pub fn squares_about_mean(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|v| (v - mean) * (v - mean)).sum()
}

/// n of the unbiased variance, over steps; a single value tells nothing of its scatter.
#[must_use]
pub fn unbiased_squares(steps: &[Vec<f64>]) -> f64 {
    let of_step = |values: &Vec<f64>| {
        let n = values.len() as f64;
        if values.len() > 1 { n / (n - 1.0) * squares_about_mean(values) } else { 0.0 }
    };
    steps.iter().map(of_step).sum()
}

/// The interval of the mean of all values by the normal limit of drawing the values of every step anew:
/// what draws of [`Units::Groups`] end in with many values.
#[must_use]
pub fn normal_interval(steps: &[Vec<f64>], confidence: f64) -> Option<[f64; 2]> {
    let all = steps.iter().map(Vec::len).sum::<usize>() as f64;
    let sum: f64 = steps.iter().flatten().sum();
    let half = Normal::standard().inverse_cdf(0.5 + confidence / 2.0) * unbiased_squares(steps).sqrt() / all;
    (all > 1.0).then(|| [sum / all - half, sum / all + half])
}
