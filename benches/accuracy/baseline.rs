//! What a plot of the mean reward says by itself.

/// Verdicts of the trivial rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Baseline {
    /// The mean reward of the last fifth of the steps is below that of the best fifth.
    pub below: bool,
    /// By more than a fifth of it.
    pub well_below: bool,
}

impl Baseline {
    /// Of the mean reward of each step.
    pub fn of(means: &[f64]) -> Self {
        let fifth = means.len().div_ceil(5).max(1);
        let of = |window: &[f64]| window.iter().sum::<f64>() / window.len() as f64;
        let best = means.windows(fifth).map(of).fold(f64::NEG_INFINITY, f64::max);
        let last = means.windows(fifth).last().map_or(f64::NEG_INFINITY, of);
        Self { below: last < best, well_below: last < best - 0.2 * best.abs() }
    }
}
