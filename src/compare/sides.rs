//! Two arms at their aligned steps.

use std::collections::BTreeMap;

use super::align::Alignment;
use super::quantities::{Fraction, Metric};
use super::settings::StepAlignment;
use crate::analyze::ComparedRun;
use crate::analyze::result::{Cluster, ClusterSum, ClusterSums, StepRow};
use crate::stats::bootstrap::Stratum;
use crate::stats::serial::FEWEST_BLOCKS;

/// Clusters of a side that are resampled at most; beyond, those of a step are taken together. With
/// many steps groups add little to what drawing steps already carries, so fewer will do.
const CLUSTERS: usize = 1 << 10;
const CLUSTERS_OF_FEW_STEPS: usize = 1 << 15;

/// The runs of an arm.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Their analyses.
    pub runs: &'a [&'a ComparedRun],
}

impl<'a> Side<'a> {
    /// All steps, ascending.
    pub fn steps(&self) -> Vec<i64> {
        let mut steps: Vec<i64> = self.runs.iter().flat_map(|r| r.steps.iter().map(|s| s.step)).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The rows of a step, one a run that has it.
    fn rows(&self, step: i64) -> impl Iterator<Item = &'a StepRow> {
        let row = move |run: &&'a ComparedRun| {
            let at = run.steps.binary_search_by_key(&step, |row| row.step).ok()?;
            Some(&run.steps[at])
        };
        self.runs.iter().filter_map(row)
    }

    fn clusters(&self, step: i64) -> Vec<&'a Cluster> {
        let of = |run: &&'a ComparedRun| {
            let steps = &run.clusters.steps;
            let at = steps.binary_search_by_key(&step, |s| s.step).ok()?;
            Some(steps[at].clusters.iter())
        };
        self.runs.iter().filter_map(of).flatten().collect()
    }
}

/// How prompts of both arms belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptCounts {
    /// Prompts that both have at a pair of steps.
    pub paired: usize,
    /// Groups of each side without a partner.
    pub unpaired: [usize; 2],
    /// Whether prompts are logged on both sides.
    pub logged: bool,
}

/// Two arms at their aligned steps.
pub struct Sides {
    /// How steps were aligned.
    pub alignment: Alignment,
    /// Steps of each side that have no partner.
    pub unaligned: [usize; 2],
    /// The clusters of every pair of steps.
    pub strata: Vec<Stratum<{ ClusterSum::COUNT }>>,
    /// Prompts.
    pub prompts: PromptCounts,
    /// Clusters of the same prompt at a pair of steps: baseline, other.
    pub prompt_pairs: Vec<[ClusterSums; 2]>,
    /// Rows of each side at every pair of steps.
    rows: Vec<[Vec<StepRow>; 2]>,
}

impl Sides {
    /// Aligns two arms.
    pub fn new(left: Side<'_>, right: Side<'_>, method: Option<StepAlignment>) -> Self {
        let steps = [left.steps(), right.steps()];
        let alignment = Alignment::of(&steps[0], &steps[1], method);
        let pairs = &alignment.pairs;
        let unaligned = [steps[0].len() - pairs.len(), steps[1].len() - pairs.len()];
        let mut sides = Self {
            unaligned,
            strata: Vec::with_capacity(pairs.len()),
            prompts: PromptCounts { logged: logs_prompts(left) && logs_prompts(right), ..Default::default() },
            prompt_pairs: Vec::new(),
            rows: Vec::with_capacity(pairs.len()),
            alignment: Alignment { method: alignment.method, pairs: Vec::new() },
        };
        let all = if pairs.len() < FEWEST_BLOCKS { CLUSTERS_OF_FEW_STEPS } else { CLUSTERS };
        let most = (all / pairs.len().max(1)).max(2);
        for (l, r) in pairs {
            let (l, r) = (steps[0][*l], steps[1][*r]);
            sides.rows.push([left.rows(l).cloned().collect(), right.rows(r).cloned().collect()]);
            let stratum = sides.pair(&left.clusters(l), &right.clusters(r));
            sides.strata.push(coarser(stratum, most));
        }
        sides.alignment = alignment;
        sides
    }

    /// The clusters of a pair of steps, those of the same prompt side by side where all have one.
    fn pair(&mut self, left: &[&Cluster], right: &[&Cluster]) -> Stratum<{ ClusterSum::COUNT }> {
        let prompts = [by_prompt(left), by_prompt(right)];
        let both = prompts[0].iter().filter_map(|(key, l)| Some([*l, *prompts[1].get(key)?]));
        let paired: Vec<[ClusterSums; 2]> = both.collect();
        self.prompts.paired += paired.len();
        let unpaired = [0, 1].map(|side| {
            let unknown = [left, right][side].iter().filter(|c| c.prompt.is_none()).count();
            prompts[side].len() - paired.len() + unknown
        });
        self.prompts.unpaired.iter_mut().zip(unpaired).for_each(|(all, here)| *all += here);
        self.prompt_pairs.extend(&paired);
        if unpaired == [0, 0] && !paired.is_empty() {
            return Stratum {
                sides: [0, 1].map(|side| paired.iter().map(|p| p[side]).collect()),
                paired: true,
            };
        }
        let sums = |clusters: &[&Cluster]| clusters.iter().map(|c| c.sums).collect();
        Stratum { sides: [sums(left), sums(right)], paired: false }
    }

    /// Number of pairs of steps.
    pub fn len(&self) -> usize {
        self.strata.len()
    }

    /// The fractions of a metric at every pair of steps: baseline, other.
    pub fn fractions(&self, metric: &Metric) -> Vec<[Fraction; 2]> {
        let add = |mut sum: Fraction, one: Fraction| {
            sum.iter_mut().zip(one).for_each(|(a, b)| *a += b);
            sum
        };
        let at = |(stratum, rows): (&Stratum<{ ClusterSum::COUNT }>, &[Vec<StepRow>; 2])| {
            [0, 1].map(|side| {
                let clusters = stratum.sides[side].iter().filter_map(|c| metric.of_cluster(c));
                let steps = rows[side].iter().filter_map(|row| metric.of_step(row));
                clusters.chain(steps).fold([0.0; 2], add)
            })
        };
        self.strata.iter().zip(&self.rows).map(at).collect()
    }
}

/// The clusters of every prompt together: runs of one arm answer the same ones.
fn by_prompt(clusters: &[&Cluster]) -> BTreeMap<u64, ClusterSums> {
    let mut prompts: BTreeMap<u64, ClusterSums> = BTreeMap::new();
    for cluster in clusters {
        if let Some(prompt) = cluster.prompt {
            let sums = prompts.entry(prompt).or_insert([0.0; ClusterSum::COUNT]);
            sums.iter_mut().zip(cluster.sums).for_each(|(a, b)| *a += b);
        }
    }
    prompts
}

fn logs_prompts(side: Side<'_>) -> bool {
    let logs = |run: &&ComparedRun| {
        let mut clusters = run.clusters.steps.iter().flat_map(|s| &s.clusters).take(100);
        clusters.any(|c| c.prompt.is_some())
    };
    side.runs.iter().all(logs)
}

/// At most `most` clusters a side: every so many are taken together, partners with partners.
fn coarser<const K: usize>(stratum: Stratum<K>, most: usize) -> Stratum<K> {
    let together = |clusters: Vec<[f64; K]>| {
        if clusters.len() <= most {
            return clusters;
        }
        let mut sums = vec![[0.0; K]; most];
        for (i, cluster) in clusters.iter().enumerate() {
            sums[i % most].iter_mut().zip(cluster).for_each(|(a, b)| *a += b);
        }
        sums
    };
    Stratum { sides: stratum.sides.map(together), paired: stratum.paired }
}

/// The value of a metric in each run of an arm, over the aligned steps of the run.
pub fn run_values(side: Side<'_>, metric: &Metric, steps: &[i64]) -> Vec<f64> {
    let of_run = |run: &&ComparedRun| {
        let one = Side { runs: std::slice::from_ref(run) };
        let mut sum = [0.0; 2];
        for step in steps {
            let clusters = one.clusters(*step);
            let fractions = clusters.iter().filter_map(|c| metric.of_cluster(&c.sums));
            for fraction in fractions.chain(one.rows(*step).filter_map(|row| metric.of_step(row))) {
                sum.iter_mut().zip(fraction).for_each(|(a, b)| *a += b);
            }
        }
        super::quantities::value(sum)
    };
    side.runs.iter().filter_map(of_run).collect()
}

/// The value of every metric at every step of a run.
pub fn step_values(run: &ComparedRun, metrics: &[Metric]) -> BTreeMap<String, Vec<(i64, f64)>> {
    let side = Side { runs: &[run] };
    let mut all: BTreeMap<String, Vec<(i64, f64)>> = BTreeMap::new();
    for row in &run.steps {
        let clusters = side.clusters(row.step);
        for metric in metrics.iter().filter(|m| m.is_known(run)) {
            let mut sum = metric.of_step(row).unwrap_or_default();
            for fraction in clusters.iter().filter_map(|c| metric.of_cluster(&c.sums)) {
                sum.iter_mut().zip(fraction).for_each(|(a, b)| *a += b);
            }
            if let Some(value) = super::quantities::value(sum) {
                all.entry(metric.name.clone()).or_default().push((row.step, value));
            }
        }
    }
    all
}
