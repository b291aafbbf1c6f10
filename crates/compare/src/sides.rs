//! Two arms at their aligned steps.

use std::collections::BTreeMap;

use super::align::AlignedSteps;
use super::classes::{self, StepClasses};
use super::fraction::{Fraction, value};
use super::quantities::Metric;
use super::settings::StepAlignment;
use stapo_base::stats::bootstrap::Stratum;
use stapo_base::stats::serial::FEWEST_STEPS;
use stapo_result::ComparedRun;
use stapo_result::{Cluster, ClusterSum, ClusterSums};

/// Clusters of a side that are resampled at most; beyond, those of a step are taken together. With
/// many steps groups add little to what drawing steps already carries, so fewer will do.
const CLUSTERS: usize = 1 << 10;
const CLUSTERS_OF_FEW_STEPS: usize = 1 << 15;

/// A run of a comparison, with its classes cut as those of the others.
pub struct CutRun<'a> {
    /// Its analysis.
    pub analysis: &'a ComparedRun,
    /// Its classes at every step, cut as those of all runs.
    pub classes: Vec<StepClasses>,
    /// The clusters of steps that teach nothing: what rounding leaves of their advantages has no energy.
    idle: BTreeMap<i64, Vec<Cluster>>,
}

/// Sums of energy.
const ENERGIES: [ClusterSum; 4] = [
    ClusterSum::PositiveEnergy,
    ClusterSum::NegativeEnergy,
    ClusterSum::SilencedEnergy,
    ClusterSum::ExploratoryEnergy,
];

fn without_energy(cluster: &Cluster) -> Cluster {
    let mut cluster = cluster.clone();
    ENERGIES.iter().for_each(|sum| cluster.sums[*sum as usize] = 0.0);
    cluster
}

impl<'a> CutRun<'a> {
    /// A run whose classes are cut at `cut`.
    pub fn new(analysis: &'a ComparedRun, cut: Option<f64>) -> Self {
        let mut run = Self { analysis, classes: classes::of_run(analysis, cut), idle: BTreeMap::new() };
        for row in analysis.steps.iter().filter(|row| !row.teaches()) {
            let clusters = run.clusters(row.step).iter().map(without_energy).collect();
            run.idle.insert(row.step, clusters);
        }
        let idle = &run.idle;
        let classes = run.classes.iter_mut().filter(|classes| idle.contains_key(&classes.step));
        classes.for_each(StepClasses::forget_energy);
        run
    }

    fn clusters(&self, step: i64) -> &[Cluster] {
        if let Some(clusters) = self.idle.get(&step) {
            return clusters;
        }
        let steps = &self.analysis.clusters.steps;
        let at = steps.binary_search_by_key(&step, |s| s.step).ok();
        at.map_or(&[], |at| &steps[at].clusters)
    }

    fn classes(&self, step: i64) -> Option<&StepClasses> {
        let at = self.classes.binary_search_by_key(&step, |classes| classes.step).ok()?;
        Some(&self.classes[at])
    }

    /// The fraction of a metric at a step.
    fn fraction(&self, metric: &Metric, step: i64) -> Fraction {
        let clusters = self.clusters(step).iter().filter_map(|c| metric.of_cluster(&c.sums));
        let classes = self.classes(step).and_then(|classes| metric.of_step(classes));
        clusters.chain(classes).fold([0.0; 2], added)
    }
}

fn added(sum: Fraction, one: Fraction) -> Fraction {
    [sum[0] + one[0], sum[1] + one[1]]
}

/// The runs of an arm.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Its runs.
    pub runs: &'a [CutRun<'a>],
}

impl<'a> Side<'a> {
    /// All steps, ascending.
    pub fn steps(&self) -> Vec<i64> {
        let steps = self.runs.iter().flat_map(|run| run.analysis.steps.iter().map(|s| s.step));
        let mut steps: Vec<i64> = steps.collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The classes at a step, one a run that has it.
    fn classes(&self, step: i64) -> impl Iterator<Item = &'a StepClasses> {
        self.runs.iter().filter_map(move |run| run.classes(step))
    }

    fn clusters(&self, step: i64) -> Vec<&'a Cluster> {
        self.runs.iter().flat_map(|run| run.clusters(step)).collect()
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
    pub alignment: AlignedSteps,
    /// Steps of each side that have no partner.
    pub unaligned: [usize; 2],
    /// The clusters of every pair of steps.
    pub strata: Vec<Stratum<{ ClusterSum::COUNT }>>,
    /// Prompts.
    pub prompts: PromptCounts,
    /// Clusters of the same prompt at a pair of steps: baseline, other.
    pub prompt_pairs: Vec<[ClusterSums; 2]>,
    /// Classes of each side at every pair of steps.
    classes: Vec<[Vec<StepClasses>; 2]>,
}

impl Sides {
    /// Aligns two arms.
    pub fn new(left: Side<'_>, right: Side<'_>, method: Option<StepAlignment>) -> Self {
        let steps = [left.steps(), right.steps()];
        let alignment = AlignedSteps::of(&steps[0], &steps[1], method);
        let pairs = &alignment.pairs;
        let unaligned = [steps[0].len() - pairs.len(), steps[1].len() - pairs.len()];
        let mut sides = Self {
            unaligned,
            strata: Vec::with_capacity(pairs.len()),
            prompts: PromptCounts { logged: logs_prompts(left) && logs_prompts(right), ..Default::default() },
            prompt_pairs: Vec::new(),
            classes: Vec::with_capacity(pairs.len()),
            alignment: AlignedSteps { method: alignment.method, pairs: Vec::new() },
        };
        let all = if pairs.len() < FEWEST_STEPS { CLUSTERS_OF_FEW_STEPS } else { CLUSTERS };
        let most = (all / pairs.len().max(1)).max(2);
        for (l, r) in pairs {
            let (l, r) = (steps[0][*l], steps[1][*r]);
            let classes = [(left, l), (right, r)].map(|(side, step)| side.classes(step).cloned().collect());
            sides.classes.push(classes);
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
        let at = |(stratum, classes): (&Stratum<{ ClusterSum::COUNT }>, &[Vec<StepClasses>; 2])| {
            [0, 1].map(|side| {
                let clusters = stratum.sides[side].iter().filter_map(|c| metric.of_cluster(c));
                let steps = classes[side].iter().filter_map(|classes| metric.of_step(classes));
                clusters.chain(steps).fold([0.0; 2], added)
            })
        };
        self.strata.iter().zip(&self.classes).map(at).collect()
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
    let logs = |run: &CutRun<'_>| {
        let steps = run.analysis.clusters.steps.iter();
        steps.flat_map(|s| &s.clusters).take(100).any(|c| c.prompt.is_some())
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
    let of_run =
        |run: &CutRun<'_>| value(steps.iter().map(|s| run.fraction(metric, *s)).fold([0.0; 2], added));
    side.runs.iter().filter_map(of_run).collect()
}

/// The value of every metric at every step of a run.
pub fn step_values(run: &CutRun<'_>, metrics: &[Metric]) -> BTreeMap<String, Vec<(i64, f64)>> {
    let mut all: BTreeMap<String, Vec<(i64, f64)>> = BTreeMap::new();
    for row in &run.analysis.steps {
        for metric in metrics.iter().filter(|m| m.is_known(run.analysis)) {
            if let Some(value) = value(run.fraction(metric, row.step)) {
                all.entry(metric.name.clone()).or_default().push((row.step, value));
            }
        }
    }
    all
}
