//! The tests of a metric, and the most that each could have found.

use super::result::{Drawn, MetricRow, Test, Unit};
use crate::stats::effect;
use crate::stats::mann_whitney::rank_sum;
use crate::stats::welch::Welch;
use crate::stats::wilcoxon::signed_rank;

/// Wilcoxon's signed ranks of paired differences.
pub fn paired(differences: &[f64], unit: Drawn, row: &mut MetricRow) {
    row.test = Test::WilcoxonSignedRank;
    row.test_unit = unit;
    row.n = differences.len() as u64;
    row.p_value = Some(signed_rank(differences));
    row.smallest_p = Some(signed_rank(&rising(differences.len())));
    row.effect = effect::paired_delta(differences);
    row.shift = effect::paired_shift(differences);
}

/// Mann and Whitney's ranks of two samples.
pub fn unpaired(left: &[f64], right: &[f64], unit: Drawn, row: &mut MetricRow) {
    row.test = Test::MannWhitney;
    row.p_value = Some(rank_sum(left, right));
    let all = rising(left.len() + right.len());
    let (lower, higher) = all.split_at(left.len());
    row.smallest_p = Some(rank_sum(lower, higher));
    samples(left, right, unit, row);
}

/// A second test that has to agree: the larger p-value counts.
pub fn require(second: Option<f64>, row: &mut MetricRow) {
    row.p_value = row.p_value.map(|p| p.max(second.unwrap_or(0.0)));
}

/// Welch's t of the means of runs, which are taken as about normal: ranks of three against three
/// cannot give less than 0.1. Where no run differs from another of its arm, ranks are all there is.
pub fn seeds(left: &[f64], right: &[f64], confidence: f64, row: &mut MetricRow) {
    let Some(welch) = Welch::of(left, right) else {
        unpaired(left, right, Drawn::Seeds, row);
        return;
    };
    row.test = Test::WelchT;
    row.p_value = welch.p_value();
    set_interval(welch.interval(confidence).map(|bounds| (bounds, Drawn::Seeds)), row);
    samples(left, right, Drawn::Seeds, row);
}

/// Sets the interval of a difference, within what the baseline leaves possible: a share lies between 0 and
/// all, and a number of tokens or an entropy is never below 0.
pub fn set_interval(found: Option<([f64; 2], Drawn)>, row: &mut MetricRow) {
    if let Some((bounds, unit)) = found {
        let [least, most] = possible(row);
        [row.ci_low, row.ci_high] = bounds.map(|bound| Some(bound.max(least).min(most)));
        row.interval = unit;
    }
}

/// Metrics in nats or without a unit that have no values below 0.
const NEVER_NEGATIVE: [&str; 2] = ["entropy", "energy_per_token"];

/// The smallest and the largest difference that the metric's range leaves.
fn possible(row: &MetricRow) -> [f64; 2] {
    match row.unit {
        Unit::Share => [0.0 - row.baseline, 1.0 - row.baseline],
        Unit::Tokens => [0.0 - row.baseline, f64::INFINITY],
        _ if NEVER_NEGATIVE.contains(&row.name.as_str()) => [0.0 - row.baseline, f64::INFINITY],
        Unit::Nats | Unit::Number => [f64::NEG_INFINITY, f64::INFINITY],
    }
}

/// Whether an interval around 0 does not even exclude that the metric vanished, or that a share is all: of
/// such a one nobody can say that nothing differs.
pub fn tells_nothing(row: &MetricRow) -> bool {
    let [least, most] = possible(row);
    let vanished = least < 0.0 && row.ci_low.is_some_and(|low| low <= least);
    vanished || most > 0.0 && row.ci_high.is_some_and(|high| high >= most)
}

fn samples(left: &[f64], right: &[f64], unit: Drawn, row: &mut MetricRow) {
    row.test_unit = unit;
    row.n = left.len().min(right.len()) as u64;
    row.effect = effect::cliffs_delta(left, right);
    row.shift = effect::shift(left, right);
}

/// 1, 2, 3, …: the clearest result of a test of ranks.
fn rising(n: usize) -> Vec<f64> {
    (1..=n).map(|i| i as f64).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_clearest_result_bounds_the_test() {
        let mut row = MetricRow::default();
        paired(&[0.3, -0.1, 0.4, 0.2, 0.7], Drawn::Steps, &mut row);
        assert_eq!(row.smallest_p, Some(2.0 / 32.0));
        unpaired(&[1.0, 2.0, 3.0], &[1.5, 2.5, 3.5], Drawn::Groups, &mut row);
        assert_eq!(row.smallest_p, Some(0.1));
    }

    #[test]
    fn intervals_stay_within_what_is_possible() {
        let mut row = MetricRow { unit: Unit::Share, baseline: 0.25, ..MetricRow::default() };
        set_interval(Some(([-0.7, 1.03], Drawn::Steps)), &mut row);
        assert_eq!((row.ci_low, row.ci_high), (Some(-0.25), Some(0.75)));
        assert!(tells_nothing(&row));
        set_interval(Some(([-0.2, 0.1], Drawn::Steps)), &mut row);
        assert!(!tells_nothing(&row));
        let mut row = MetricRow { unit: Unit::Share, ..MetricRow::default() };
        set_interval(Some(([-0.6, 1.4], Drawn::Steps)), &mut row);
        assert!((row.ci_low, row.ci_high) == (Some(0.0), Some(1.0)) && tells_nothing(&row));
        let mut row =
            MetricRow { unit: Unit::Nats, name: "entropy".into(), baseline: 0.4, ..MetricRow::default() };
        set_interval(Some(([-0.7, 1.03], Drawn::Steps)), &mut row);
        assert_eq!((row.ci_low, row.ci_high), (Some(-0.4), Some(1.03)));
        let mut row = MetricRow { unit: Unit::Number, baseline: 0.4, ..MetricRow::default() };
        set_interval(Some(([-2.0, 1.03], Drawn::Steps)), &mut row);
        assert_eq!((row.ci_low, row.ci_high), (Some(-2.0), Some(1.03)));
    }

    #[test]
    fn three_seeds_a_side_can_differ() {
        let mut row = MetricRow::default();
        seeds(&[0.300, 0.301, 0.299], &[0.900, 0.901, 0.900], 0.95, &mut row);
        assert_eq!((row.test, row.smallest_p), (Test::WelchT, None));
        assert!(row.p_value.unwrap() < 1e-5 && row.ci_low.unwrap() > 0.59);
        let mut row = MetricRow::default();
        seeds(&[0.3; 3], &[0.9; 3], 0.95, &mut row);
        assert_eq!((row.test, row.ci_low), (Test::MannWhitney, None), "without scatter there is no t");
    }
}
