//! Quantities that are known by step alone: one value a step and run.

use std::collections::BTreeMap;

use super::align::AlignedSteps;
use super::fraction::{Fraction, difference, value};
use super::judge::step_metric;
use super::result::MetricRow;
use super::settings::CompareSettings;
use super::testing;

/// Steps and values, ascending.
pub type Points = Vec<(i64, f64)>;

/// A quantity of the runs of an arm.
#[derive(Clone, Debug, Default)]
pub struct Scalar {
    /// Its values, by run.
    pub by_run: Vec<Points>,
}

impl Scalar {
    /// Whether none of its values is below 0.
    pub fn is_never_negative(&self) -> bool {
        self.by_run.iter().flatten().all(|(_, value)| *value >= 0.0)
    }

    /// The mean over the runs at each step.
    fn means(&self) -> BTreeMap<i64, f64> {
        let mut steps: BTreeMap<i64, Fraction> = BTreeMap::new();
        for (step, value) in self.by_run.iter().flatten() {
            let sum = steps.entry(*step).or_default();
            *sum = [sum[0] + value, sum[1] + 1.0];
        }
        steps.into_iter().map(|(step, [sum, n])| (step, sum / n)).collect()
    }

    /// The mean of each run over those of the aligned steps (ascending) at which it has values.
    fn run_means(&self, aligned: &[i64]) -> Vec<f64> {
        let mean = |points: &Points| {
            let known = points.iter().filter(|(step, _)| aligned.binary_search(step).is_ok());
            value(known.fold([0.0; 2], |sum, (_, value)| [sum[0] + value, sum[1] + 1.0]))
        };
        self.by_run.iter().filter_map(mean).collect()
    }
}

/// A row with the statistics of a quantity at the aligned steps of two arms; `None` where they share
/// none.
pub fn row(described: MetricRow, scalars: &[Scalar; 2], settings: &CompareSettings) -> Option<MetricRow> {
    let sides = [0, 1].map(|side| scalars[side].means());
    let steps = [0, 1].map(|side| sides[side].keys().copied().collect::<Vec<i64>>());
    let alignment = AlignedSteps::of(&steps[0], &steps[1], settings.alignment);
    let at = |side: usize, place: usize| [sides[side][&steps[side][place]], 1.0];
    let fractions: Vec<[Fraction; 2]> = alignment.pairs.iter().map(|(l, r)| [at(0, *l), at(1, *r)]).collect();
    let total =
        |side: usize| value(fractions.iter().fold([0.0; 2], |s, f| [s[0] + f[side][0], s[1] + f[side][1]]));
    let (baseline, other) = (total(0)?, total(1)?);
    let mut row = MetricRow { baseline, other, difference: difference(baseline, other), ..described };
    if scalars.iter().all(|scalar| scalar.by_run.len() > 1) {
        let pairs = alignment.pairs.iter();
        let (left, right) = pairs.map(|(l, r)| (steps[0][*l], steps[1][*r])).unzip();
        over_seeds(scalars, &[left, right], settings, &mut row);
    } else {
        step_metric(&fractions, settings, alignment.is_pairing(), &mut row);
    }
    Some(row)
}

fn over_seeds(
    scalars: &[Scalar; 2],
    aligned: &[Vec<i64>; 2],
    settings: &CompareSettings,
    row: &mut MetricRow,
) {
    let [left, right] = [0, 1].map(|side| scalars[side].run_means(&aligned[side]));
    let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    (row.baseline, row.other) = (mean_of(&left), mean_of(&right));
    row.difference = difference(row.baseline, row.other);
    testing::seeds(&left, &right, settings.confidence, row);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The same values, summed in another order.
    #[test]
    fn rounding_is_not_ranked() {
        let run = |rounding: f64| {
            let of_step = |step: i64| (step, 1e-5 * (step + 1) as f64 * (1.0 + rounding));
            Scalar { by_run: vec![(0..12).map(of_step).collect()] }
        };
        let [left, right] = [run(0.0), run(3e-16)];
        assert!(left.by_run != right.by_run);
        let found = row(MetricRow::default(), &[left, right], &CompareSettings::default()).unwrap();
        assert_eq!((found.difference, found.p_value, found.shift), (0.0, Some(1.0), Some(0.0)));
        assert_eq!((found.ci_low, found.ci_high, found.effect), (Some(0.0), Some(0.0), Some(0.0)));
    }

    /// Arms of one process that rises with the steps, one of them logged for half as long: as of single
    /// runs, only what both have is compared.
    #[test]
    fn means_of_seeds_are_over_the_aligned_steps() {
        let arm = |steps: i64, noise: [f64; 3]| Scalar {
            by_run: noise.map(|own| (0..steps).map(|step| (step, step as f64 + own)).collect()).into(),
        };
        let scalars = [arm(24, [0.0, 0.1, 0.2]), arm(12, [0.05, 0.1, 0.15])];
        let found = row(MetricRow::default(), &scalars, &CompareSettings::default()).unwrap();
        assert!((found.baseline - 5.6).abs() < 1e-12 && (found.other - 5.6).abs() < 1e-12, "{found:?}");
        assert!(found.p_value.unwrap() > 0.9, "{found:?}");
    }
}
