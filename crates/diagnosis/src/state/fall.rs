//! The greatest loss of a series: an earlier window above the tail from some step on.

use super::rules::ALPHA;
use super::strata::{Strata, Window};
use statrs::function::erf::erfc;

/// The loss that chance makes least likely.
#[derive(Clone, Copy, Debug)]
pub struct Fall {
    /// Mean of the earlier window.
    pub from: f64,
    /// Mean of the tail.
    pub to: f64,
    /// First bin of the tail.
    pub since: usize,
    /// First bin of the window.
    pub at: usize,
    /// One-sided, times the number of pairs of windows tried.
    pub p: f64,
}

impl Fall {
    /// Whether it is one after `tests` series and slices.
    pub fn is_one(&self, tests: f64) -> bool {
        self.p * tests < ALPHA
    }
}

/// What a loss has to hold against beside its own tail.
struct Tails {
    /// Mean of the last fifth.
    end: f64,
    /// How far the tail from a bin on rises without its lowest step.
    without_lowest: Vec<f64>,
}

impl Strata {
    /// Looks at windows of 1, 2, 4, … bins and every tail after them.
    pub fn fall(&self) -> Option<Fall> {
        let bins = self.len();
        let shortest = if self.rules().two_at_the_end && bins >= 5 { 2 } else { 1 };
        let last = bins.checked_sub(shortest)?;
        let tails: Vec<(usize, Window)> = (1..=last).map(|from| (from, self.window(from, bins))).collect();
        let limits = self.tails();
        let mut best: Option<(f64, Fall)> = None;
        let mut tries = 0_u64;
        let mut width = 1;
        while width <= last {
            for at in 0..=last - width {
                let window = self.window(at, at + width);
                for (since, tail) in tails.iter().filter(|(since, _)| at + width <= *since) {
                    let d = self.difference(&window, tail);
                    if d.shared <= 0.5 {
                        continue;
                    }
                    tries += 1;
                    let steps = 1.0 / width as f64 + 1.0 / (bins - since) as f64;
                    let z = -d.angle / (d.variance + self.scatter_at(d.first, d.second) * steps).sqrt();
                    let lost = |to: f64| {
                        let loss = d.first - to;
                        loss > 0.05 * self.span && loss > 0.2 * (d.first - self.low)
                    };
                    let holds = lost(d.second)
                        && (!self.rules().at_the_end || lost(limits.end))
                        && (!self.rules().without_the_lowest
                            || bins < 5
                            || lost(d.second + limits.without_lowest[*since]));
                    if holds && best.is_none_or(|(least, _)| z < least) {
                        best = Some((z, Fall { from: d.first, to: d.second, since: *since, at, p: 1.0 }));
                    }
                }
            }
            width *= 2;
        }
        best.map(|(z, fall)| Fall { p: normal_below(z) * tries as f64, ..fall })
    }

    fn tails(&self) -> Tails {
        let bins = self.len();
        let steps: Vec<f64> = (0..bins).map(|at| self.mean_of(&self.window(at, at + 1)).0).collect();
        let (end, share) = self.mean_of(&self.window(bins - fifth(bins), bins));
        // Where most of the mix is not logged at the end, it holds nothing against a loss.
        let end = if share < 0.5 { f64::NEG_INFINITY } else { end };
        let (mut sum, mut lowest) = (0.0, f64::INFINITY);
        let mut without_lowest = vec![0.0; bins];
        for (at, mean) in steps.iter().enumerate().rev() {
            sum += mean;
            lowest = lowest.min(*mean);
            let count = (bins - at) as f64;
            if count > 1.0 {
                without_lowest[at] = (sum / count - lowest) / (count - 1.0);
            }
        }
        Tails { end, without_lowest }
    }

    /// Mean over the slices that a window has, and their share of the weight.
    pub fn mean_of(&self, window: &[(f64, f64)]) -> (f64, f64) {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (w, (n, s)) in self.weights.iter().zip(window).filter(|(_, (n, _))| *n > 0.0) {
            sum += w * s / n;
            weight += w;
        }
        (sum / weight.max(1e-12), weight / self.weights.iter().sum::<f64>())
    }
}

/// Bins of the last fifth.
pub fn fifth(bins: usize) -> usize {
    bins.div_ceil(5).max(1)
}

/// Φ(z).
fn normal_below(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}
