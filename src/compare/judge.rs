//! The difference of a metric: value, interval, test, size.
//!
//! What is tested is whether the two runs differ at their aligned steps by more than the sampling
//! of steps, prompts and responses explains. Where neighbouring steps differ alike, blocks of them
//! are what counts, in the test and in the interval.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::quantities::{Fraction, Metric, value};
use super::result::{Drawn, MetricRow, Test};
use super::settings::CompareSettings;
use super::sides::{Side, Sides, run_values};
use crate::analyze::result::ClusterSum;
use crate::stats::bootstrap::{DrawnSteps, Stratum, Units, interval, resample, welch_interval, widened};
use crate::stats::effect;
use crate::stats::mann_whitney::rank_sum;
use crate::stats::serial::{FEWEST_BLOCKS, Serial, block_means, serial};
use crate::stats::wilcoxon::signed_rank;

/// Paired steps from which their test can speak: with fewer, not even differences that all have one
/// sign stay below 0.05 after the correction for a dozen metrics (2/2⁹ · 12 = 0.047).
const STEPS_FOR_TEST: usize = 9;

/// Sums of all clusters in each draw.
type Draws = Vec<[[f64; ClusterSum::COUNT]; 2]>;

/// Judges the metrics of one pair of arms.
pub struct Judge<'a> {
    sides: &'a Sides,
    arms: [Side<'a>; 2],
    settings: &'a CompareSettings,
    /// Draws by length of blocks; 0 where groups are drawn.
    draws: BTreeMap<usize, Draws>,
    drawn_steps: Option<DrawnSteps<{ ClusterSum::COUNT }>>,
}

impl<'a> Judge<'a> {
    /// A judge.
    pub fn new(sides: &'a Sides, arms: [Side<'a>; 2], settings: &'a CompareSettings) -> Self {
        Self { sides, arms, settings, draws: BTreeMap::new(), drawn_steps: None }
    }

    /// Whether enough steps are aligned to draw steps.
    pub fn draws_steps(&self) -> bool {
        self.sides.len() >= FEWEST_BLOCKS
    }

    /// Whether runs of each arm are what counts.
    fn has_seeds(&self) -> bool {
        self.arms.iter().all(|arm| arm.runs.len() > 1)
    }

    /// Metrics of the framework; `None` where a side has no data for one.
    pub fn metrics(&mut self, metrics: &[&Metric]) -> Vec<Option<MetricRow>> {
        // Tests side by side; then the intervals, whose draws are made side by side.
        let tested: Vec<Option<Tested>> = metrics.par_iter().map(|metric| self.tested(metric)).collect();
        let finished = tested.into_iter().zip(metrics).map(|(tested, metric)| {
            let tested = tested?;
            Some(if self.has_seeds() { tested.row } else { self.with_interval(metric, tested) })
        });
        finished.collect()
    }

    fn tested(&self, metric: &Metric) -> Option<Tested> {
        let fractions = self.sides.fractions(metric);
        let mut row = describe(metric, &fractions)?;
        let found = differences(&fractions, self.sides.alignment.is_pairing());
        let serial = serial(&found.series);
        if self.has_seeds() {
            self.over_seeds(metric, &mut row);
        } else {
            self.test(metric, &found, &serial, &mut row);
        }
        Some(Tested { row, fractions, serial, paired: found.paired })
    }

    fn with_interval(&mut self, metric: &Metric, tested: Tested) -> MetricRow {
        let Tested { mut row, fractions, serial, paired } = tested;
        let is_cluster = metric.of_cluster(&[0.0; ClusterSum::COUNT]).is_some();
        let bounds = if is_cluster {
            self.cluster_interval(metric, &serial, row.difference)
        } else {
            step_interval(&fractions, &serial, self.settings, paired, row.difference)
        };
        if let Some((bounds, name)) = bounds {
            [row.ci_low, row.ci_high] = bounds.map(Some);
            row.interval = name;
        }
        row
    }

    fn over_seeds(&self, metric: &Metric, row: &mut MetricRow) {
        let pairs = &self.sides.alignment.pairs;
        let [left, right] = [0, 1].map(|side| {
            let steps = self.arms[side].steps();
            let aligned: Vec<i64> = pairs.iter().map(|p| steps[if side == 0 { p.0 } else { p.1 }]).collect();
            run_values(self.arms[side], metric, &aligned)
        });
        if let Some(bounds) = welch_interval(&left, &right, self.settings.confidence) {
            [row.ci_low, row.ci_high] = bounds.map(Some);
            row.interval = Drawn::Seeds;
        }
        // Means of runs, so that difference, interval and test speak of the same.
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        (row.baseline, row.other) = (mean(&left), mean(&right));
        row.difference = row.other - row.baseline;
        unpaired(&left, &right, Drawn::Seeds, row);
    }

    /// The strictest test that has enough to count: paired steps, paired prompts, steps, groups.
    fn test(&self, metric: &Metric, found: &Differences, serial: &Serial, row: &mut MetricRow) {
        if found.paired && found.series.len() >= STEPS_FOR_TEST {
            paired_steps(found, serial, row);
            return;
        }
        let prompts: Vec<f64> =
            self.sides.prompt_pairs.iter().filter_map(|pair| prompt_difference(metric, pair)).collect();
        if found.paired && prompts.len() >= FEWEST_BLOCKS {
            paired(&prompts, Drawn::Prompts, row);
            return;
        }
        if !found.paired && found.left.len() >= FEWEST_BLOCKS {
            unpaired_steps(found, row);
            return;
        }
        let [left, right] = [0, 1].map(|side| {
            let clusters = self.sides.strata.iter().flat_map(move |s| &s.sides[side]);
            clusters.filter_map(|c| value(metric.of_cluster(c)?)).collect::<Vec<f64>>()
        });
        if left.len() > 1 && right.len() > 1 {
            unpaired(&left, &right, Drawn::Groups, row);
        } else if found.paired && !found.series.is_empty() {
            paired_steps(found, serial, row);
        }
    }

    /// The interval by drawing clusters.
    fn cluster_interval(
        &mut self,
        metric: &Metric,
        serial: &Serial,
        difference: f64,
    ) -> Option<([f64; 2], Drawn)> {
        let by_steps = self.draws_steps();
        let block = if by_steps { serial.block } else { 0 };
        let settings = self.settings;
        let sides = self.sides;
        let draws =
            self.draws.entry(block).or_insert_with(|| {
                let (draws, seed) = (settings.draws, settings.seed);
                match block {
                    0 => resample(&sides.strata, Units::Groups, draws, seed),
                    _ => self
                        .drawn_steps
                        .get_or_insert_with(|| DrawnSteps::new(&sides.strata, seed))
                        .resample(block, sides.alignment.is_pairing(), draws, seed),
                }
            });
        let one = |sums: &[[f64; ClusterSum::COUNT]; 2]| {
            let [left, right] = [0, 1].map(|side| metric.of_cluster(&sums[side]).and_then(value));
            right.zip(left).map_or(f64::NAN, |(right, left)| right - left)
        };
        let values: Vec<f64> = draws.iter().map(one).collect();
        let independent = if by_steps {
            sides.len() / serial.block
        } else {
            let groups = |side: usize| sides.strata.iter().map(|s| s.sides[side].len()).sum::<usize>();
            (groups(0).min(groups(1)) + 1).saturating_sub(sides.len())
        };
        let bounds = interval(&values, settings.confidence, independent)?;
        let factor = if by_steps { serial.inflation } else { 1.0 };
        Some((widened(bounds, difference, factor), unit_name(by_steps, serial)))
    }
}

/// A metric with its test, before its interval.
struct Tested {
    row: MetricRow,
    fractions: Vec<[Fraction; 2]>,
    serial: Serial,
    paired: bool,
}

/// Trainer scalars: one value a step.
pub fn step_metric(
    fractions: &[[Fraction; 2]],
    settings: &CompareSettings,
    pairing: bool,
    row: &mut MetricRow,
) {
    let found = differences(fractions, pairing);
    let serial = serial(&found.series);
    if found.paired {
        paired_steps(&found, &serial, row);
    } else {
        unpaired_steps(&found, row);
    }
    if let Some((bounds, name)) = step_interval(fractions, &serial, settings, found.paired, row.difference) {
        [row.ci_low, row.ci_high] = bounds.map(Some);
        row.interval = name;
    }
}

fn paired_steps(found: &Differences, serial: &Serial, row: &mut MetricRow) {
    row.autocorrelation = serial.autocorrelation;
    row.effective_steps = Some(serial.effective);
    paired(&block_means(&found.series, serial.block), unit_name(true, serial), row);
}

/// Blocks are as long as the more correlated side needs.
fn unpaired_steps(found: &Differences, row: &mut MetricRow) {
    let longer = [serial(&found.left), serial(&found.right)].into_iter().max_by_key(|s| s.block);
    if let Some(serial) = longer {
        let [left, right] = [&found.left, &found.right].map(|values| block_means(values, serial.block));
        unpaired(&left, &right, unit_name(true, &serial), row);
    }
}

fn unit_name(by_steps: bool, serial: &Serial) -> Drawn {
    match (by_steps, serial.block) {
        (false, _) => Drawn::Groups,
        (true, 1) => Drawn::Steps,
        (true, _) => Drawn::Blocks,
    }
}

/// Values of both sides at the steps where both have one.
struct Differences {
    left: Vec<f64>,
    right: Vec<f64>,
    /// Right minus left.
    series: Vec<f64>,
    paired: bool,
}

fn differences(fractions: &[[Fraction; 2]], paired: bool) -> Differences {
    let both = fractions.iter().filter_map(|[l, r]| value(*l).zip(value(*r)));
    let (left, right): (Vec<f64>, Vec<f64>) = both.unzip();
    let series = right.iter().zip(&left).map(|(r, l)| r - l).collect();
    Differences { left, right, series, paired }
}

fn prompt_difference(metric: &Metric, pair: &[[f64; ClusterSum::COUNT]; 2]) -> Option<f64> {
    let [left, right] = [0, 1].map(|side| metric.of_cluster(&pair[side]).and_then(value));
    Some(right? - left?)
}

fn describe(metric: &Metric, fractions: &[[Fraction; 2]]) -> Option<MetricRow> {
    let sum = |side: usize| {
        let parts = fractions.iter().map(move |f| f[side]);
        parts.fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    };
    let (baseline, other) = (value(sum(0))?, value(sum(1))?);
    Some(MetricRow {
        name: metric.name.clone(),
        label: metric.label.clone(),
        family: metric.family,
        unit: metric.unit,
        baseline,
        other,
        difference: other - baseline,
        ..MetricRow::default()
    })
}

fn paired(differences: &[f64], unit: Drawn, row: &mut MetricRow) {
    row.test = Test::WilcoxonSignedRank;
    row.test_unit = unit;
    row.n = differences.len() as u64;
    row.p_value = Some(signed_rank(differences));
    row.effect = effect::paired_delta(differences);
    row.shift = effect::paired_shift(differences);
}

fn unpaired(left: &[f64], right: &[f64], unit: Drawn, row: &mut MetricRow) {
    row.test = Test::MannWhitney;
    row.test_unit = unit;
    row.n = left.len().min(right.len()) as u64;
    row.p_value = Some(rank_sum(left, right));
    row.effect = effect::cliffs_delta(left, right);
    row.shift = effect::shift(left, right);
}

/// The interval by drawing steps that have one fraction each.
fn step_interval(
    fractions: &[[Fraction; 2]],
    serial: &Serial,
    settings: &CompareSettings,
    joint: bool,
    difference: f64,
) -> Option<([f64; 2], Drawn)> {
    if fractions.len() < FEWEST_BLOCKS {
        return None;
    }
    let strata: Vec<Stratum<2>> =
        fractions.iter().map(|f| Stratum { sides: f.map(|side| vec![side]), paired: joint }).collect();
    let draws = resample(&strata, Units::Steps { block: serial.block, joint }, settings.draws, settings.seed);
    let values: Vec<f64> =
        draws.iter().filter_map(|[left, right]| Some(value(*right)? - value(*left)?)).collect();
    let bounds = interval(&values, settings.confidence, fractions.len() / serial.block)?;
    Some((widened(bounds, difference, serial.inflation), unit_name(true, serial)))
}
