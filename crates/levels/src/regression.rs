//! One run's part of the estimate: means by block, and a regression on tasks within blocks (spec compare, 2 to 4).

use crate::matrix::{Matrix, dot, pseudo_inverse, times};
use crate::view::Group;

/// A group that alone decides its own fit would get an infinite error; its share is bounded by this.
const LEAST_FREE: f64 = 1e-3;

/// A run's groups against blocks and tasks.
pub struct Regression {
    /// Block of each group.
    pub block: Vec<usize>,
    /// Groups a block.
    counts: Vec<f64>,
    /// R_b: Σ num / Σ den of each block.
    ratios: Vec<f64>,
    /// Share of each task among the groups of each block.
    pub shares: Matrix,
    /// x̃: what a group's tasks are beyond these shares.
    centred: Matrix,
    /// u: what a group adds to R_b.
    excess: Vec<f64>,
    /// β: what a task is above the others.
    slopes: Vec<f64>,
    inverse: Matrix,
}

/// A run's value at given shares of tasks, and what each group adds to its error.
pub struct Fitted {
    /// m_r.
    pub value: f64,
    /// a e / √(1 − h), a group (HC2: MacKinnon and White 1985).
    pub errors: Vec<f64>,
}

impl Regression {
    /// `block` gives the block of each group; `tasks` are those that have a slope.
    pub fn of(groups: &[Group<'_>], block: Vec<usize>, blocks: usize, tasks: &[&str]) -> Self {
        let total = |of: &dyn Fn(&Group<'_>) -> f64| {
            let mut sums = vec![0.0; blocks];
            groups.iter().zip(&block).for_each(|(group, b)| sums[*b] += of(group));
            sums
        };
        let (counts, num, den) = (total(&|_| 1.0), total(&|g| g.num), total(&|g| g.den));
        let ratios: Vec<f64> = num.iter().zip(&den).map(|(n, d)| n / d).collect();
        let excess =
            groups.iter().zip(&block).map(|(g, &b)| (g.num - ratios[b] * g.den) / (den[b] / counts[b]));
        let is = |group: &Group<'_>, task: &str| f64::from(u8::from(group.task == task));
        let columns: Matrix = tasks.iter().map(|task| total(&|g| is(g, task))).collect();
        let share = |b: usize| columns.iter().map(|column| column[b] / counts[b]).collect();
        let shares: Matrix = (0..blocks).map(share).collect();
        let row = |(group, b): (&Group<'_>, &usize)| {
            tasks.iter().zip(&shares[*b]).map(|(task, share)| is(group, task) - share).collect()
        };
        let centred: Matrix = groups.iter().zip(&block).map(row).collect();
        let excess: Vec<f64> = excess.collect();
        let entry = |i: usize, j: usize| centred.iter().map(|x| x[i] * x[j]).sum();
        let gram = (0..tasks.len()).map(|i| (0..tasks.len()).map(|j| entry(i, j)).collect()).collect();
        let inverse = pseudo_inverse(&gram);
        let moment = |i: usize| centred.iter().zip(&excess).map(|(x, u)| x[i] * u).sum();
        let slopes = times(&inverse, &(0..tasks.len()).map(moment).collect::<Vec<f64>>());
        Self { block, counts, ratios, shares, centred, excess, slopes, inverse }
    }

    /// Groups of a block.
    pub fn count(&self, block: usize) -> f64 {
        self.counts[block]
    }

    /// The value where each block has these shares of tasks.
    pub fn at(&self, shares: &Matrix, weights: &[f64]) -> Fitted {
        let mut offset = vec![0.0; self.slopes.len()];
        for (b, weight) in weights.iter().enumerate() {
            for (k, sum) in offset.iter_mut().enumerate() {
                *sum += weight * (self.shares[b][k] - shares[b][k]);
            }
        }
        let turned = times(&self.inverse, &offset);
        let error = |(place, &b): (usize, &usize)| {
            let x = &self.centred[place];
            let weight = weights[b] / self.counts[b] - dot(x, &turned);
            let leverage = 1.0 / self.counts[b] + dot(x, &times(&self.inverse, x));
            weight * (self.excess[place] - dot(x, &self.slopes)) / (1.0 - leverage).max(LEAST_FREE).sqrt()
        };
        Fitted {
            value: dot(weights, &self.ratios) - dot(&offset, &self.slopes),
            errors: self.block.iter().enumerate().map(error).collect(),
        }
    }
}
