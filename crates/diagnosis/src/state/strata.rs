//! A series in bins of steps, stratified by slice: differences of its mean with the error that groups and steps give.

use super::range::Range;
use super::rules::Rules;
use super::sums::{Grid, Sums};

/// Degrees of freedom below which a slice's own dispersion is not trusted alone.
const FEW_DEGREES: f64 = 30.0;
/// Median of χ²₁·2 over its mean: the square of a first difference of white noise, 2 · 0.455.
const MEDIAN_FIRST: f64 = 0.91;
/// The same for second differences, 6 · 0.455.
const MEDIAN_SECOND: f64 = 2.73;

/// Sums a bin, by slice.
pub struct Strata {
    pub weights: Vec<f64>,
    pub low: f64,
    pub span: f64,
    /// Variance of a group's mean over p(1 − p), within steps, by slice.
    pub dispersion: Vec<f64>,
    /// What it stands on.
    pub freedom: Vec<f64>,
    pub groups: Grid,
    pub means: Grid,
    groups_before: Grid,
    means_before: Grid,
    /// First step of each bin.
    pub steps: Vec<i64>,
    /// Variance of a step beyond its groups' error.
    scatter: f64,
    rules: Rules,
}

/// Number of groups and sum of their means, by slice.
pub type Window = Vec<(f64, f64)>;

/// The difference of two windows over the slices that both have.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// Of 2·asin√ of the means within the range.
    pub angle: f64,
    /// Its variance by groups.
    pub variance: f64,
    pub first: f64,
    pub second: f64,
    /// Share of the weight that both have.
    pub shared: f64,
}

impl Strata {
    /// The given slices of a series. `least_dispersion` is the whole run's, for slices of few groups.
    pub fn new(
        sums: &Sums,
        slices: &[usize],
        range: &Range,
        least_dispersion: Option<f64>,
        rules: &Rules,
    ) -> Self {
        let span = (range.high - range.low).max(1e-12);
        let of =
            |grid: &Grid| -> Grid { slices.iter().map(|slice| pooled(&grid[*slice], rules.bins)).collect() };
        let weights =
            if slices.len() > 1 { slices.iter().map(|k| sums.weights[*k]).collect() } else { vec![1.0] };
        let freedom: Vec<f64> = slices
            .iter()
            .map(|k| sums.groups[*k].iter().filter(|n| **n > 1.0).map(|n| n - 1.0).sum())
            .collect();
        let mut dispersion: Vec<f64> =
            slices.iter().map(|slice| dispersion(sums, *slice, range.low, span)).collect();
        if let (Some(least), true) = (least_dispersion, rules.pooled_dispersion) {
            raise(&mut dispersion, &freedom, least);
        }
        let (groups, means) = (of(&sums.groups), of(&sums.means));
        let steps = edges(sums.steps.len(), rules.bins).iter().map(|at| sums.steps[*at]).collect();
        let mut strata = Self {
            weights,
            low: range.low,
            span,
            dispersion,
            freedom,
            groups_before: before(&groups),
            means_before: before(&means),
            groups,
            means,
            steps,
            scatter: 0.0,
            rules: *rules,
        };
        strata.scatter = strata.measured_scatter();
        strata
    }

    /// The dispersion of all slices, by their degrees of freedom.
    pub fn pooled_dispersion(&self) -> f64 {
        let degrees = || self.freedom.iter().map(|degrees| degrees.max(1e-9));
        self.dispersion.iter().zip(degrees()).map(|(phi, d)| phi * d).sum::<f64>() / degrees().sum::<f64>()
    }

    /// Gives slices of few groups at least this dispersion.
    pub fn raise_dispersion(&mut self, least: f64) {
        raise(&mut self.dispersion, &self.freedom, least);
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Place of a mean within the range.
    pub fn place(&self, mean: f64) -> f64 {
        ((mean - self.low) / self.span).clamp(0.0, 1.0)
    }

    /// Bins `from..to`.
    pub fn window(&self, from: usize, to: usize) -> Window {
        let of = |grid: &[f64]| grid[to] - grid[from];
        self.groups_before.iter().zip(&self.means_before).map(|(n, s)| (of(n), of(s))).collect()
    }

    /// The difference of two windows, each slice by its weight. Where slices differ in level, the variance is that of
    /// a number of groups that would give it at the mean level.
    pub fn difference(&self, first: &[(f64, f64)], second: &[(f64, f64)]) -> Difference {
        let (mut weight, mut a, mut b, mut level, mut first_error, mut second_error) =
            (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        let shared = |k: usize| first[k].0 > 0.0 && second[k].0 > 0.0;
        for k in (0..self.weights.len()).filter(|k| shared(*k)) {
            let (w, phi) = (self.weights[k], self.dispersion[k]);
            let ((n1, s1), (n2, s2)) = (first[k], second[k]);
            weight += w;
            a += w * s1 / n1;
            b += w * s2 / n2;
            let p = shrunk(self.place((s1 + s2) / (n1 + n2)), (n1 + n2) / phi);
            level += w * p;
            let error = w * w * phi * p * (1.0 - p);
            first_error += error / n1;
            second_error += error / n2;
        }
        let total = weight.max(1e-12);
        let (a, b, level) = (a / total, b / total, level / total);
        let chance = level * (1.0 - level) * total * total;
        let (n1, n2) = (chance / first_error.max(1e-12), chance / second_error.max(1e-12));
        Difference {
            angle: angle(self.place(a), n1) - angle(self.place(b), n2),
            variance: 1.0 / n1.max(1e-9) + 1.0 / n2.max(1e-9),
            first: a,
            second: b,
            shared: weight / self.weights.iter().sum::<f64>(),
        }
    }

    /// Variance of a step on the scale of angles, near two means.
    pub fn scatter_at(&self, first: f64, second: f64) -> f64 {
        if !self.rules.raw_scatter {
            return self.scatter;
        }
        let p = (((first + second) / 2.0 - self.low) / self.span).clamp(0.01, 0.99);
        self.scatter / (p * (1.0 - p))
    }

    /// Variance of a mean over `steps` bins beyond its groups' error, within the range.
    pub fn scatter_of(&self, steps: usize, chance: f64) -> f64 {
        self.scatter / steps as f64 * if self.rules.raw_scatter { 1.0 } else { chance }
    }

    fn measured_scatter(&self) -> f64 {
        if self.len() < 2 {
            return 0.0;
        }
        let second = (self.rules.curvature && self.len() >= 8).then(|| self.second_differences()).flatten();
        second.unwrap_or_else(|| self.first_differences())
    }

    fn first_differences(&self) -> f64 {
        let (mut squares, mut variances) = (Vec::new(), Vec::new());
        for at in 1..self.len() {
            let d = self.difference(&self.window(at - 1, at), &self.window(at, at + 1));
            if d.shared > 0.25 {
                let p = self.place((d.first + d.second) / 2.0);
                let raw = self.rules.raw_scatter;
                squares.push(if raw { (d.first - d.second) / self.span } else { d.angle }.powi(2));
                variances.push(d.variance * if raw { p * (1.0 - p) } else { 1.0 });
            }
        }
        if squares.len() < 2 {
            return 0.0;
        }
        (median(&mut squares) / MEDIAN_FIRST - median(&mut variances) / 2.0).max(0.0)
    }

    /// `None` where too few neighbours share slices.
    fn second_differences(&self) -> Option<f64> {
        let all: f64 = self.weights.iter().sum();
        let (mut squares, mut variances) = (Vec::new(), Vec::new());
        for at in 2..self.len() {
            let (mut weight, mut bend, mut error) = (0.0, 0.0, 0.0);
            for (k, w) in self.weights.iter().enumerate() {
                let groups = &self.groups[k][at - 2..=at];
                if groups.iter().any(|n| *n <= 0.0) {
                    continue;
                }
                let mean = |i: usize| self.means[k][at - 2 + i] / groups[i] / self.span;
                let variance = |i: usize| {
                    let p = (mean(i) - self.low / self.span).clamp(0.0, 1.0);
                    (p * (1.0 - p)).max(0.25 / groups[i] / 8.0) * self.dispersion[k] / groups[i]
                };
                weight += w;
                bend += w * (mean(0) - 2.0 * mean(1) + mean(2));
                error += w * w * (variance(0) + 4.0 * variance(1) + variance(2));
            }
            if weight > 0.25 * all {
                squares.push((bend / weight).powi(2));
                variances.push(error / (weight * weight));
            }
        }
        (squares.len() >= 3)
            .then(|| (median(&mut squares) / MEDIAN_SECOND - median(&mut variances) / 6.0).max(0.0))
    }
}

/// 2·asin√p as Anscombe (1948) has it for n trials: its variance is 1 / n, also near 0 and 1.
pub fn angle(p: f64, n: f64) -> f64 {
    2.0 * shrunk(p, n).clamp(0.0, 1.0).sqrt().asin()
}

/// A share of n trials, off 0 and 1.
pub fn shrunk(p: f64, n: f64) -> f64 {
    (p * n + 0.375) / (n + 0.75)
}

fn raise(dispersion: &mut [f64], freedom: &[f64], least: f64) {
    for (phi, degrees) in dispersion.iter_mut().zip(freedom) {
        if *degrees < FEW_DEGREES {
            *phi = phi.max(least);
        }
    }
}

/// Within steps where these have groups enough, else from neighbouring steps.
fn dispersion(sums: &Sums, slice: usize, low: f64, span: f64) -> f64 {
    let place = |mean: f64| ((mean - low) / span).clamp(0.0, 1.0);
    let steps = || sums.groups[slice].iter().zip(&sums.means[slice]).zip(&sums.squares[slice]);
    let (mut degrees, mut squares, mut chance) = (0.0, 0.0, 0.0);
    for ((n, sum), square) in steps().filter(|((n, _), _)| **n > 1.0) {
        let mean = sum / n;
        let p = place(mean);
        degrees += n - 1.0;
        squares += (square - n * mean * mean).max(0.0) / (span * span);
        chance += (n - 1.0) * p * (1.0 - p);
    }
    let phi = if degrees >= 4.0 {
        if chance > 1e-9 { squares / chance } else { 1.0 }
    } else {
        let logged: Vec<(f64, f64)> =
            steps().filter(|((n, _), _)| **n > 0.0).map(|((n, sum), _)| (*n, sum / n)).collect();
        if logged.len() < 3 {
            1.0
        } else {
            let count = logged.len() as f64;
            let p = logged.iter().map(|(_, mean)| place(*mean)).sum::<f64>() / count;
            let jumps = logged.windows(2).map(|w| (w[1].1 - w[0].1).powi(2)).sum::<f64>() / (count - 1.0);
            let groups = logged.iter().map(|(n, _)| n).sum::<f64>() / count;
            jumps / 2.0 / (span * span) / (p * (1.0 - p)).max(1e-6) * groups
        }
    };
    let a_group = sums.responses[slice].iter().sum::<f64>() / sums.groups[slice].iter().sum::<f64>().max(1.0);
    phi.max(0.02 / a_group.max(1.0)).min(4.0)
}

/// Where bins begin: each has as many steps as the next, but for one.
fn edges(steps: usize, bins: usize) -> Vec<usize> {
    let bins = bins.clamp(1, steps.max(1)).min(steps);
    (0..bins).map(|bin| bin * steps / bins).collect()
}

fn pooled(row: &[f64], bins: usize) -> Vec<f64> {
    let edges = edges(row.len(), bins);
    let ends = edges.iter().skip(1).copied().chain([row.len()]);
    edges.iter().zip(ends).map(|(from, to)| row[*from..to].iter().sum()).collect()
}

fn before(grid: &Grid) -> Grid {
    let summed = |row: &Vec<f64>| {
        let mut sum = 0.0;
        let running = row.iter().map(|value| {
            sum += value;
            sum
        });
        std::iter::once(0.0).chain(running).collect()
    };
    grid.iter().map(summed).collect()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[half],
        _ => f64::midpoint(values[half - 1], values[half]),
    }
}
