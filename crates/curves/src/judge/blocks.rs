//! A series as at most 32 block means, with the noise of its rows from their own scatter; falls, dips and gains in it.

use crate::math::mean;
use stapo_base::stats::neighbours::{BLOCKS, block_means, edges, noise, prefix};

/// Lengths of windows in blocks.
const WINDOWS: [usize; 5] = [1, 2, 4, 8, 16];

/// A fall or dip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Drop {
    /// How many errors deep it is.
    pub t: f64,
    /// Mean before it.
    pub before: f64,
    /// Mean in it.
    pub after: f64,
    /// The block behind the window before it.
    pub from: usize,
    /// Its blocks.
    pub blocks: (usize, usize),
    /// The window before it.
    pub(crate) window: (usize, usize),
}

/// A difference between the start and the end of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gain {
    /// Mean at the start.
    pub start: f64,
    /// Mean at the end.
    pub end: f64,
    /// End minus start.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
}

/// A series in blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<'a> {
    steps: &'a [f64],
    values: &'a [f64],
    /// Rows at which blocks begin, and the end.
    edges: Vec<usize>,
    /// Mean of each block.
    pub(crate) means: Vec<f64>,
    /// Variance of one row in each block.
    variances: Vec<f64>,
    /// Prefix sums over blocks: of values, and of variances.
    sums: Vec<f64>,
    errors: Vec<f64>,
    /// Lengths of windows that are searched.
    windows: Vec<usize>,
}

#[allow(clippy::cast_precision_loss)]
impl<'a> Blocks<'a> {
    /// Of values by ascending steps, at least four.
    #[must_use]
    pub(crate) fn new(steps: &'a [f64], values: &'a [f64]) -> Self {
        let rows = values.len();
        let blocks = rows.min(BLOCKS);
        let edges = edges(rows, blocks.max(1));
        let shortest = if rows >= 128 { 1 } else { 2 };
        let windows =
            WINDOWS.into_iter().filter(|w| (shortest..=blocks.saturating_sub(2)).contains(w)).collect();
        let means = block_means(values, &edges);
        let mut new = Self {
            steps,
            values,
            edges,
            means,
            variances: Vec::new(),
            sums: Vec::new(),
            errors: Vec::new(),
            windows,
        };
        new.variances = noise(values, &new.edges).variances;
        new.sums = prefix(new.means.iter().enumerate().map(|(k, mean)| mean * new.size(k)));
        new.errors = new.error_sums(&new.variances);
        new
    }

    fn size(&self, block: usize) -> f64 {
        (self.edges[block + 1] - self.edges[block]) as f64
    }

    fn error_sums(&self, variances: &[f64]) -> Vec<f64> {
        prefix(variances.iter().enumerate().map(|(k, variance)| variance * self.size(k)))
    }

    /// Rows of the series.
    #[must_use]
    pub(crate) fn rows(&self) -> usize {
        self.values.len()
    }

    /// Number of blocks.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.means.len()
    }

    fn rows_of(&self, from: usize, to: usize) -> f64 {
        ((self.edges[to] - self.edges[from]) as f64).max(1.0)
    }

    /// Mean of the blocks `from..to`, and the variance of that mean.
    pub(crate) fn window(&self, from: usize, to: usize) -> (f64, f64) {
        let rows = self.rows_of(from, to);
        ((self.sums[to] - self.sums[from]) / rows, (self.errors[to] - self.errors[from]) / (rows * rows))
    }

    /// Mean of the last fifth.
    pub(crate) fn end(&self) -> f64 {
        let n = self.count();
        self.window(n.saturating_sub((n / 5).max(2)), n).0
    }

    /// The best drop from an earlier window into one of `tails` (blocks, and what the window before has to be above):
    /// it loses `size` and a fifth of what the window has above `floor`.
    fn search(&self, tails: &[(usize, usize, f64)], floor: f64, size: f64, best: &mut [Drop]) {
        for (length, best) in self.windows.iter().zip(best) {
            for i in 0..self.count() - length {
                let (before, error) = self.window(i, i + length);
                let loss = if floor.is_finite() { size.max(0.2 * (before - floor)) } else { size };
                for &(a, b, low) in tails.iter().filter(|tail| tail.0 >= i + length) {
                    let (after, error_after) = self.window(a, b);
                    if before - after > loss && before - low > loss {
                        let t = (before - after) / (error + error_after).sqrt();
                        if t > best.t {
                            let window = (i, i + length);
                            *best = Drop { t, before, after, from: i + length, blocks: (a, b), window };
                        }
                    }
                }
            }
        }
    }

    /// The greatest of the drops, each tested once more with the noise of the series that has no such drop: a jump is
    /// no noise.
    fn again(&self, best: &[Drop]) -> Drop {
        let mut greatest = Drop::default();
        let found = best.iter().filter(|drop| drop.t > 0.0);
        for drop in found.flat_map(|drop| [Some(*drop), self.begun_earlier(drop)]).flatten() {
            let mut lifted = self.values.to_vec();
            for value in &mut lifted[self.edges[drop.blocks.0]..self.edges[drop.blocks.1]] {
                *value += drop.before - drop.after;
            }
            let errors = self.error_sums(&noise(&lifted, &self.edges).variances);
            let variance =
                |(from, to): (usize, usize)| (errors[to] - errors[from]) / self.rows_of(from, to).powi(2);
            let t = (drop.before - drop.after) / (variance(drop.window) + variance(drop.blocks)).sqrt();
            if t.max(drop.t) > greatest.t {
                greatest = Drop { t: t.max(drop.t), ..drop };
            }
        }
        greatest
    }

    /// A fall to the end from its onset on: the noise about a jump is great, so the search begins behind it, and what
    /// lies between would stay a jump in the series that has no such drop.
    fn begun_earlier(&self, drop: &Drop) -> Option<Drop> {
        let (first, n) = (self.onset_block(drop)?, self.count());
        if drop.blocks.1 != n || first >= drop.blocks.0 {
            return None;
        }
        let after = self.window(first, n).0;
        Some(Drop { t: 0.0, after, blocks: (first, n), ..*drop })
    }

    /// The greatest fall that does not come back: a tail below an earlier window, also without its lowest block and in
    /// its last fifth.
    #[must_use]
    pub(crate) fn fall(&self, floor: f64, size: f64) -> Drop {
        let n = self.count();
        let end = self.end();
        let tail = |a: usize| {
            let mean = self.window(a, n).0;
            let lowest = self.means[a..].iter().copied().fold(f64::INFINITY, f64::min);
            let without = mean + (mean - lowest) / (n - a - 1).max(1) as f64;
            let up = if n >= 5 { mean.max(without) } else { mean };
            (a, n, up.max(end))
        };
        let tails: Vec<_> = (2..n.saturating_sub(1)).map(tail).collect();
        let mut best = vec![Drop::default(); self.windows.len()];
        self.search(&tails, floor, size, &mut best);
        self.again(&best)
    }

    /// The greatest drop that may come back.
    #[must_use]
    pub(crate) fn dip(&self, floor: f64, size: f64) -> Drop {
        let n = self.count();
        let mut best = vec![Drop::default(); self.windows.len()];
        let first = self.windows.first().copied().unwrap_or(n);
        for length in &self.windows {
            let tails: Vec<_> =
                (first..n.saturating_sub(length + 1)).map(|a| (a, a + length, f64::NEG_INFINITY)).collect();
            self.search(&tails, floor, size, &mut best);
        }
        self.again(&best)
    }

    /// First tenth against last fifth, first third against last, and first rows against last fifth.
    #[must_use]
    pub(crate) fn gains(&self) -> Vec<Gain> {
        let (n, fifth) = (self.count(), (self.count() / 5).max(2));
        let tenth = (n / 10).max(if self.rows() >= 20 { 1 } else { 2 });
        let difference = |(start, before): (f64, f64), (end, after): (f64, f64)| Gain {
            start,
            end,
            difference: end - start,
            error: (before + after).sqrt(),
        };
        let mut gains: Vec<Gain> = [(tenth, fifth), (n / 3, n / 3)]
            .map(|(a, b)| difference(self.window(0, a), self.window(n.saturating_sub(b), n)))
            .into();
        if self.rows() >= 64 {
            let k = (self.rows() / 64).max(4);
            let start = (mean(&self.values[..k]), self.variances[0] / k as f64);
            gains.push(difference(start, self.window(n.saturating_sub(fifth), n)));
        }
        gains
    }

    /// The step at which a block begins.
    pub(crate) fn step(&self, block: usize) -> f64 {
        self.steps[self.edges[block.min(self.count())].min(self.rows() - 1)]
    }

    /// The last step of a block before `block`.
    pub(crate) fn last_step_before(&self, block: usize) -> f64 {
        self.steps[self.edges[block].max(1) - 1]
    }

    /// Blocks that begin at or before a step.
    pub(crate) fn begun_by(&self, step: f64) -> usize {
        self.edges[..self.count()].iter().filter(|row| self.steps[**row] <= step).count()
    }

    /// The block from which on the mean stays nearer to what is after a drop than to what was before.
    fn onset_block(&self, drop: &Drop) -> Option<usize> {
        let middle = drop.before - 0.5 * (drop.before - drop.after);
        let n = self.count();
        (drop.from..n).find(|k| self.means[*k] < middle && self.window(*k, n).0 < middle)
    }

    /// The step of a drop: where blocks have rows enough, the row that parts those of the blocks about the onset best.
    pub(crate) fn onset(&self, drop: &Drop) -> f64 {
        let block = self.onset_block(drop).unwrap_or(drop.blocks.0);
        let edge = |block: usize| self.edges[block.min(self.count())];
        if self.rows() < 4 * self.count() || block == 0 {
            return self.step(block);
        }
        let from = edge(block.saturating_sub(2));
        let rows = &self.values[from..edge(block + 2)];
        // Least squares of two means: the greatest sum of squares between them.
        let between = |at: &usize| {
            let (before, after) = rows.split_at(at - from);
            let difference = mean(before) - mean(after);
            difference.max(0.0).powi(2) * before.len() as f64 * after.len() as f64
        };
        let splits = edge(block - 1).max(from + 1)..edge(block + 1);
        let best = splits.max_by(|a, b| between(a).total_cmp(&between(b)));
        best.map_or_else(|| self.step(block), |at| self.steps[at.min(self.rows() - 1)])
    }
}
