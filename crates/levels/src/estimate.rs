//! The difference of two runs over some steps, with its error (spec compare, 1 to 7).

use std::collections::BTreeMap;

use crate::blocks::Blocks;
use crate::matrix::Matrix;
use crate::regression::Regression;
use crate::view::{Cluster, Group};

/// Groups of each run that a block needs: one alone has no scatter.
const BLOCK_GROUPS: usize = 2;
/// Groups of each run that a task needs to get a slope of its own.
const TASK_GROUPS: usize = 5;
/// Tasks with a slope.
const MOST_TASKS: usize = 8;
/// Groups for each slope, beyond those that blocks and slopes take up.
const ROOM: usize = 10;

/// Two values and the error of their difference.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// m_r of both runs.
    pub values: [f64; 2],
    /// √V.
    pub error: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// ρ: the range of the groups' values.
    pub range: f64,
}

/// Both runs have to have two groups in these steps.
pub fn estimate(sides: &[Vec<Group<'_>>; 2], steps: &[i64]) -> Estimate {
    let place = |group: &Group<'_>| steps.partition_point(|step| *step < group.step);
    let mut counts = vec![vec![0; 2]; steps.len()];
    for (side, groups) in sides.iter().enumerate() {
        groups.iter().for_each(|group| counts[place(group)][side] += 1);
    }
    let blocks = Blocks::of(&counts, BLOCK_GROUPS);
    let tasks = tasks_with_slopes(sides, blocks.weights.len());
    let regressions = sides.each_ref().map(|groups| {
        let block = groups.iter().map(|group| blocks.of_step[place(group)]).collect();
        Regression::of(groups, block, blocks.weights.len(), &tasks)
    });
    let shares = pooled_shares(&regressions, blocks.weights.len(), tasks.len());
    let fitted = regressions.each_ref().map(|regression| regression.at(&shares, &blocks.weights));
    let clusters = Clusters::of(sides, &regressions, [&fitted[0].errors, &fitted[1].errors]);
    let values = sides.iter().flatten().map(|group| group.num / group.den);
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let range = high - low;
    let responses = sides.each_ref().map(|groups| groups.iter().map(|g| g.responses).sum::<f64>());
    // Equal values in all groups are no proof that the next response would be equal, too.
    let floor = range * range * responses.iter().map(|n| 1.0 / (n * n)).sum::<f64>();
    let taken = 2.0 * (blocks.weights.len() + tasks.len()) as f64;
    let groups = (sides[0].len() + sides[1].len()) as f64;
    Estimate {
        values: fitted.each_ref().map(|fit| fit.value),
        error: clusters.variance().max(floor).sqrt(),
        freedom: clusters.freedom(1.0 - taken / groups),
        range,
    }
}

/// The tasks with a slope: those with enough groups in both runs. Where all have, the commonest is what the others are
/// held against.
fn tasks_with_slopes<'a>(sides: &[Vec<Group<'a>>; 2], blocks: usize) -> Vec<&'a str> {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (side, groups) in sides.iter().enumerate() {
        groups.iter().for_each(|group| counts.entry(group.task).or_default()[side] += 1);
    }
    let mut tasks: Vec<(&str, [usize; 2])> = counts.into_iter().collect();
    tasks.sort_by_key(|(_, count)| std::cmp::Reverse(count[0] + count[1]));
    let all = tasks.len();
    tasks.retain(|(_, count)| count.iter().all(|n| *n >= TASK_GROUPS));
    tasks.truncate(MOST_TASKS);
    let dropped = usize::from(tasks.len() == all);
    let slopes: Vec<&str> = tasks.iter().skip(dropped).map(|(task, _)| *task).collect();
    let fewest = sides.iter().map(Vec::len).min().unwrap_or(0);
    let has_room = fewest >= blocks + slopes.len() + ROOM * slopes.len();
    if has_room { slopes } else { Vec::new() }
}

/// x̄_b: shares of tasks in each block, of both runs' groups together.
fn pooled_shares(regressions: &[Regression; 2], blocks: usize, tasks: usize) -> Matrix {
    let pooled = |b: usize, k: usize| {
        let part: f64 = regressions.iter().map(|r| r.shares[b][k] * r.count(b)).sum();
        part / regressions.iter().map(|r| r.count(b)).sum::<f64>()
    };
    (0..blocks).map(|b| (0..tasks).map(|k| pooled(b, k)).collect()).collect()
}

/// What a cluster adds to the difference, and where it stands.
#[derive(Default)]
struct Sum {
    /// U_c.
    total: f64,
    /// Its first block, in the first run where it is in both.
    block: usize,
    /// Whether it is in the first run, and in the second.
    sides: [bool; 2],
}

struct Clusters(Vec<Sum>);

impl Clusters {
    fn of(sides: &[Vec<Group<'_>>; 2], regressions: &[Regression; 2], errors: [&Vec<f64>; 2]) -> Self {
        let mut sums: BTreeMap<Cluster, Sum> = BTreeMap::new();
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            let blocks = &regressions[side].block;
            for ((group, error), block) in sides[side].iter().zip(errors[side]).zip(blocks) {
                let sum =
                    sums.entry(group.cluster).or_insert_with(|| Sum { block: *block, ..Sum::default() });
                sum.total += sign * error;
                if !sum.sides[0] || side == 0 {
                    sum.block = sum.block.min(*block);
                }
                sum.sides[side] = true;
            }
        }
        Self(sums.into_values().collect())
    }

    /// V = Σ U_c².
    fn variance(&self) -> f64 {
        self.0.iter().map(|sum| sum.total * sum.total).sum()
    }

    /// After Satterthwaite over the kinds of clusters, and no more than clusters that are `free` of the fit.
    fn freedom(&self, free: f64) -> f64 {
        let mut kinds: BTreeMap<(usize, [bool; 2]), (f64, f64)> = BTreeMap::new();
        for sum in &self.0 {
            let kind = kinds.entry((sum.block, sum.sides)).or_default();
            kind.0 += sum.total * sum.total;
            kind.1 += 1.0;
        }
        let variance = self.variance();
        let squares: f64 = kinds.values().map(|(part, n)| part * part / (n - 1.0).max(1.0)).sum();
        let satterthwaite = if variance > 0.0 { variance * variance / squares } else { f64::INFINITY };
        satterthwaite.min(self.0.len() as f64 * free).max(1.0)
    }
}
