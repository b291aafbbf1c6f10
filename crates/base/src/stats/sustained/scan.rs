//! Means of windows of a series against those of later steps.

use std::ops::Range;

use statrs::distribution::{ContinuousCDF, Normal};

/// Steps since a turn below which the level at the end is not taken from them alone, where more are there.
const FEWEST_AFTER_TURN: usize = 4;

/// The number of standard errors that one of `windows` tries exceeds with this rate.
pub fn critical(rate: f64, windows: usize) -> f64 {
    Normal::standard().inverse_cdf(1.0 - rate / windows.max(1) as f64)
}

/// A window, and later steps that lie below it.
pub struct Best {
    pub window: Range<usize>,
    later: Range<usize>,
    pub before: f64,
    after: f64,
    error: f64,
}

impl Best {
    pub fn difference(&self) -> f64 {
        self.before - self.after
    }

    /// The difference over its standard error.
    pub fn z(&self) -> f64 {
        self.difference() / self.error
    }
}

/// All windows before the last steps, against these.
pub struct Scan {
    sums: Vec<f64>,
    variances: Vec<f64>,
    /// The last steps that the level at the end is taken over.
    pub tail: usize,
}

impl Scan {
    pub fn new(values: &[f64], variances: &[f64], tail: usize) -> Self {
        let running = |terms: &[f64]| {
            let mut sum = 0.0;
            let next = |term: &f64| {
                sum += term;
                sum
            };
            std::iter::once(0.0).chain(terms.iter().map(next)).collect::<Vec<f64>>()
        };
        Self { sums: running(values), variances: running(variances), tail }
    }

    pub fn steps(&self) -> usize {
        self.sums.len() - 1
    }

    /// Mean and its variance over `from..to`.
    fn mean(&self, from: usize, to: usize) -> (f64, f64) {
        let n = (to - from) as f64;
        ((self.sums[to] - self.sums[from]) / n, (self.variances[to] - self.variances[from]) / (n * n))
    }

    fn widths(&self) -> impl Iterator<Item = usize> {
        let before = self.steps() - self.tail;
        (0..).map(|power| 1 << power).take_while(move |width| *width <= before)
    }

    pub fn windows(&self) -> usize {
        let before = self.steps() - self.tail;
        self.widths().map(|width| before - width + 1).sum()
    }

    /// The standard error of the difference between a window and later steps.
    pub fn error(&self, best: &Best) -> f64 {
        let variance = |range: &Range<usize>| self.mean(range.start, range.end).1;
        (variance(&best.window) + variance(&best.later)).sqrt()
    }

    pub fn tail_mean(&self) -> f64 {
        self.mean(self.steps() - self.tail, self.steps()).0
    }

    pub fn compared(&self, window: Range<usize>, later: Range<usize>) -> Best {
        let (before, before_variance) = self.mean(window.start, window.end);
        let (after, after_variance) = self.mean(later.start, later.end);
        Best { window, later, before, after, error: (before_variance + after_variance).sqrt() }
    }

    /// The window that the last steps lie farthest below.
    pub fn best(&self) -> Option<Best> {
        let before = self.steps() - self.tail;
        let mut best: Option<Best> = None;
        for width in self.widths() {
            for start in 0..=before - width {
                let compared = self.compared(start..start + width, before..self.steps());
                if compared.z() > best.as_ref().map_or(0.0, Best::z) {
                    best = Some(compared);
                }
            }
        }
        best
    }

    /// How many of the last steps lie above those of them before, where that is beyond chance: scatter does so with
    /// this rate. One step, or fewer than are left of the change, do not tell that it is over.
    pub fn turned_back(&self, rate: f64) -> Option<usize> {
        let (from, end) = (self.steps() - self.tail, self.steps());
        let fewest = FEWEST_AFTER_TURN.min(self.tail / 2 + 1);
        let splits = from + 1..end - fewest + 1;
        let beyond = critical(rate, splits.len());
        let rise = |split: usize| (split, -self.compared(from..split, split..end).z());
        let (split, z) = splits.map(rise).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (z > beyond).then_some(end - split)
    }

    /// The steps before `split`, if all others and the last ones lie below them.
    pub fn since(&self, split: usize) -> Option<Best> {
        let best = self.compared(0..split, split..self.steps());
        let lasts = best.before - self.tail_mean() >= 0.5 * best.difference();
        (best.difference() > 0.0 && lasts).then_some(best)
    }
}
