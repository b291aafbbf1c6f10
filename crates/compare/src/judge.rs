//! The difference of a metric: value, interval, test, size.
//!
//! What is tested is whether the two runs differ at their aligned steps by more than the sampling
//! of steps, prompts and responses explains. Neighbouring steps that differ alike count for less, in
//! the test and in the interval.

use rayon::prelude::*;

use super::fraction::{Fraction, difference, value};
use super::intervals::{Intervals, over_steps};
use super::quantities::Metric;
use super::result::{Drawn, MetricRow};
use super::settings::CompareSettings;
use super::sides::{Side, Sides, run_values};
use super::testing::{self, set_interval};
use stapo_base::stats::serial::{FEWEST_STEPS, Serial, serial};
use stapo_result::ClusterSum;

/// Paired steps from which their test can speak: with fewer, not even differences that all have one
/// sign stay below 0.05 after the correction for a dozen metrics (2/2⁹ · 12 = 0.047).
const STEPS_FOR_TEST: usize = 9;
/// Where none of n was seen, the share is below 3/n in 19 of 20 cases.
const NONE_OF: f64 = 3.0;

/// Judges the metrics of one pair of arms.
pub struct Judge<'a> {
    sides: &'a Sides,
    arms: [Side<'a>; 2],
    settings: &'a CompareSettings,
}

impl<'a> Judge<'a> {
    /// A judge.
    pub fn new(sides: &'a Sides, arms: [Side<'a>; 2], settings: &'a CompareSettings) -> Self {
        Self { sides, arms, settings }
    }

    /// Whether runs of each arm are what counts.
    fn has_seeds(&self) -> bool {
        self.arms.iter().all(|arm| arm.runs.len() > 1)
    }

    /// Metrics of the framework; `None` where a side has no data for one.
    pub fn metrics(&self, metrics: &[&Metric]) -> Vec<Option<MetricRow>> {
        // Tests side by side; then the intervals, whose draws are made side by side.
        let tested: Vec<Option<Tested>> = metrics.par_iter().map(|metric| self.tested(metric)).collect();
        let mut intervals = Intervals::new(self.sides, self.settings);
        let finished = tested.into_iter().zip(metrics).map(|(tested, metric)| {
            let tested = tested?;
            Some(if self.has_seeds() { tested.row } else { with_interval(&mut intervals, metric, tested) })
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
        Some(Tested { row, fractions, serial })
    }

    fn over_seeds(&self, metric: &Metric, row: &mut MetricRow) {
        let pairs = &self.sides.alignment.pairs;
        let [left, right] = [0, 1].map(|side| {
            let steps = self.arms[side].steps();
            let aligned: Vec<i64> = pairs.iter().map(|p| steps[if side == 0 { p.0 } else { p.1 }]).collect();
            run_values(self.arms[side], metric, &aligned)
        });
        // Means of runs, so that difference, interval and test speak of the same.
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        (row.baseline, row.other) = (mean(&left), mean(&right));
        row.difference = difference(row.baseline, row.other);
        testing::seeds(&left, &right, self.settings.confidence, row);
    }

    /// The strictest test that has enough to count: paired steps, paired prompts, steps, groups.
    fn test(&self, metric: &Metric, found: &Differences, serial: &Serial, row: &mut MetricRow) {
        if found.paired && found.series.len() >= STEPS_FOR_TEST {
            paired_steps(found, serial, row);
            return;
        }
        let prompts: Vec<f64> =
            self.sides.prompt_pairs.iter().filter_map(|pair| prompt_difference(metric, pair)).collect();
        if found.paired && prompts.len() >= FEWEST_STEPS {
            testing::paired(&prompts, Drawn::Prompts, row);
            return;
        }
        if !found.paired && found.left.len() >= FEWEST_STEPS {
            unpaired_steps(found, serial, row);
            return;
        }
        let [left, right] = [0, 1].map(|side| {
            let clusters = self.sides.strata.iter().flat_map(move |s| &s.sides[side]);
            clusters.filter_map(|c| value(metric.of_cluster(c)?)).collect::<Vec<f64>>()
        });
        if left.len() > 1 && right.len() > 1 {
            testing::unpaired(&left, &right, Drawn::Groups, row);
        } else if found.paired && !found.series.is_empty() {
            paired_steps(found, serial, row);
        }
    }
}

/// A metric with its test, before its interval.
struct Tested {
    row: MetricRow,
    fractions: Vec<[Fraction; 2]>,
    serial: Serial,
}

fn with_interval(intervals: &mut Intervals<'_>, metric: &Metric, tested: Tested) -> MetricRow {
    let Tested { mut row, fractions, serial } = tested;
    let is_cluster = metric.of_cluster(&[0.0; ClusterSum::COUNT]).is_some();
    let found = if is_cluster {
        intervals.over_clusters(metric, &serial, row.difference)
    } else {
        intervals.over_steps(&fractions, &serial, row.difference)
    };
    set_interval(found, &mut row);
    row
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
        unpaired_steps(&found, &serial, row);
    }
    set_interval(over_steps(fractions, &serial, settings, found.paired, row.difference), row);
}

fn paired_steps(found: &Differences, serial: &Serial, row: &mut MetricRow) {
    testing::paired(&found.series, Drawn::Steps, row);
    not_independent(serial, row);
}

fn unpaired_steps(found: &Differences, serial: &Serial, row: &mut MetricRow) {
    testing::unpaired(&found.left, &found.right, Drawn::Steps, row);
    not_independent(serial, row);
}

/// Ranks take steps as independent: what their mean says for itself has to agree.
fn not_independent(serial: &Serial, row: &mut MetricRow) {
    row.autocorrelation = serial.autocorrelation;
    row.effective_steps = Some(serial.effective);
    testing::require(serial.p_value(), row);
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
    let series = right.iter().zip(&left).map(|(r, l)| difference(*l, *r)).collect();
    Differences { left, right, series, paired }
}

fn prompt_difference(metric: &Metric, pair: &[[f64; ClusterSum::COUNT]; 2]) -> Option<f64> {
    let [left, right] = [0, 1].map(|side| metric.of_cluster(&pair[side]).and_then(value));
    Some(difference(left?, right?))
}

fn describe(metric: &Metric, fractions: &[[Fraction; 2]]) -> Option<MetricRow> {
    let sum = |side: usize| {
        let parts = fractions.iter().map(move |f| f[side]);
        parts.fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    };
    let sums = [sum(0), sum(1)];
    let (baseline, other) = (value(sums[0])?, value(sums[1])?);
    let none_seen = metric.counts_tokens() && sums[0][0] == 0.0 && sums[1][0] == 0.0;
    Some(MetricRow {
        name: metric.name.clone(),
        label: metric.label.clone(),
        family: metric.family,
        primary: metric.primary,
        unit: metric.unit,
        never_negative: metric.never_negative,
        baseline,
        other,
        difference: difference(baseline, other),
        at_most: none_seen.then(|| (NONE_OF / sums[0][1].min(sums[1][1])).min(1.0)),
        ..MetricRow::default()
    })
}
