//! Intervals of means: by drawing values anew, by the normal law, by Student's t.

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::quantile::linear_quantile;
use super::random::Random;

/// The mean of all values in `draws` draws: of every step as many values are drawn as it has. Each draw has its own
/// stream of random numbers, so the result is the same for any number of threads.
#[must_use]
pub fn drawn_means(steps: &[Vec<f64>], draws: usize, seed: u64) -> Vec<f64> {
    let count = steps.iter().map(Vec::len).sum::<usize>() as f64;
    let one = |draw: u64| {
        let mut random = Random::new(seed, draw);
        let mut of_step = |values: &Vec<f64>| -> f64 {
            (0..values.len()).map(|_| values[random.below(values.len())]).sum()
        };
        steps.iter().map(&mut of_step).sum::<f64>() / count
    };
    (0..draws as u64).into_par_iter().map(one).collect()
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
/// what [`drawn_means`] end in with many values.
#[must_use]
pub fn normal_interval(steps: &[Vec<f64>], confidence: f64) -> Option<[f64; 2]> {
    let all = steps.iter().map(Vec::len).sum::<usize>() as f64;
    let sum: f64 = steps.iter().flatten().sum();
    let half = Normal::standard().inverse_cdf(0.5 + confidence / 2.0) * unbiased_squares(steps).sqrt() / all;
    (all > 1.0).then(|| [sum / all - half, sum / all + half])
}
