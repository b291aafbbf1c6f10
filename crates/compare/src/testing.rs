//! The tests of a metric, and the most that each could have found.

use super::fraction::without_rounding;
use super::result::{Drawn, MetricRow, Test, Unit};
use stapo_base::stats::effect;
use stapo_base::stats::mann_whitney::rank_sum;
use stapo_base::stats::welch::Welch;
use stapo_base::stats::wilcoxon::signed_rank;

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
    let [left, right] = &without_rounding(left, right);
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
    let [left, right] = &without_rounding(left, right);
    let Some(welch) = Welch::of(left, right) else {
        unpaired(left, right, Drawn::Seeds, row);
        return;
    };
    row.test = Test::WelchT;
    row.p_value = welch.p_value();
    set_interval(welch.interval(confidence).map(|bounds| (bounds, Drawn::Seeds)), row);
    samples(left, right, Drawn::Seeds, row);
}

/// Sets the interval of a difference; two shares differ by all of it at most. It is not cut at the baseline's
/// value, which is as uncertain as the other: swapping the runs mirrors the interval.
pub fn set_interval(found: Option<([f64; 2], Drawn)>, row: &mut MetricRow) {
    if let Some((bounds, unit)) = found {
        let most = if row.unit == Unit::Share { 1.0 } else { f64::INFINITY };
        [row.ci_low, row.ci_high] = bounds.map(|bound| Some(bound.max(-most).min(most)));
        row.interval = unit;
    }
}

/// An interval of a share that is at least so wide says nothing of it, wherever it lies; of a reward, so much of
/// its range.
const HALF_OF_ALL: f64 = 0.5;

/// Whether an interval around 0 leaves open that the runs differ by as much as the larger of both values, so
/// that one of them may have nothing of it, or that they differ by about half of all that there is: of such a
/// one nobody can say that nothing differs. The same whichever run is the baseline.
pub fn tells_nothing(row: &MetricRow) -> bool {
    let Some((low, high)) = row.ci_low.zip(row.ci_high) else { return false };
    let from_zero = row.unit == Unit::Tokens || row.never_negative;
    let [least, all] = match row.range.filter(|[least, most]| least < most) {
        Some([least, most]) => [least, most - least],
        None if row.unit == Unit::Share => [0.0, 1.0],
        None if from_zero => [0.0, f64::INFINITY],
        None => return false,
    };
    let larger = row.baseline.max(row.other) - least;
    let may_vanish = larger > 0.0 && (low <= -larger || high >= larger);
    may_vanish || high - low >= HALF_OF_ALL * all
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
    fn ranks_of_two_samples_do_not_see_rounding() {
        let mut row = MetricRow::default();
        unpaired(&[0.3, 0.7, 0.9], &[0.1 + 0.2, 0.7, 0.9], Drawn::Groups, &mut row);
        assert_eq!((row.p_value, row.effect, row.shift), (Some(1.0), Some(0.0), Some(0.0)));
    }

    fn between(unit: Unit, [baseline, other]: [f64; 2], bounds: [f64; 2]) -> MetricRow {
        let mut row =
            MetricRow { unit, baseline, other, difference: other - baseline, ..MetricRow::default() };
        set_interval(Some((bounds, Drawn::Steps)), &mut row);
        row
    }

    #[test]
    fn shares_differ_by_all_at_most() {
        let row = between(Unit::Share, [0.25, 0.3], [-1.7, 1.03]);
        assert_eq!((row.ci_low, row.ci_high), (Some(-1.0), Some(1.0)));
        // The baseline's value is as uncertain as the other: nothing is cut at it.
        let row = between(Unit::Share, [0.000_33, 0.0], [-0.002_2, 0.000_1]);
        assert_eq!(row.ci_low, Some(-0.002_2));
        let row = between(Unit::Number, [0.4, 0.4], [-2.0, 1.03]);
        assert_eq!((row.ci_low, row.ci_high), (Some(-2.0), Some(1.03)));
    }

    #[test]
    fn what_tells_nothing_is_wide_and_does_not_depend_on_the_baseline() {
        let cases = [
            (Unit::Share, [0.25, 0.3], [-0.2, 0.1], false),
            (Unit::Share, [0.25, 0.3], [-0.31, 0.4], true),
            // Near the end of its range, and narrow.
            (Unit::Share, [0.979, 0.984], [-0.043, 0.021], false),
            (Unit::Share, [0.938, 0.95], [-0.039, 0.062], false),
            (Unit::Share, [0.6, 0.6], [-0.3, 0.3], true),
            // One of both may have none.
            (Unit::Share, [0.0, 0.000_33], [-0.000_3, 0.002_2], true),
            (Unit::Tokens, [200.0, 280.0], [-50.0, 285.0], true),
            (Unit::Tokens, [200.0, 210.0], [-50.0, 60.0], false),
            (Unit::Number, [0.4, 0.5], [-2.0, 2.0], false),
        ];
        for (unit, values, [low, high], expected) in cases {
            let row = between(unit, values, [low, high]);
            let swapped = between(unit, [values[1], values[0]], [-high, -low]);
            assert_eq!([tells_nothing(&row), tells_nothing(&swapped)], [expected; 2], "{row:?}");
        }
    }

    /// Nothing says what a trainer's scalar is: its values say where it begins.
    #[test]
    fn a_scalar_that_is_never_negative_may_vanish() {
        let silenced = between(Unit::Number, [0.0, 9.66], [-3.99, 25.1]);
        assert!(!tells_nothing(&silenced));
        assert!(tells_nothing(&MetricRow { never_negative: true, ..silenced }));
        let narrow = between(Unit::Number, [9.0, 9.66], [-3.99, 5.1]);
        assert!(!tells_nothing(&MetricRow { never_negative: true, ..narrow }));
    }

    /// What a share says of right answers, a reward of two values says of the same answers.
    #[test]
    fn a_reward_tells_nothing_where_the_share_of_its_range_would() {
        let cases = [
            ([0.284, 0.307], [-0.358, 0.436], true),
            ([0.284, 0.307], [-0.1, 0.15], false),
            ([0.01, 0.02], [-0.02, 0.03], true),
            ([0.97, 0.96], [-0.04, 0.02], false),
        ];
        for (values, bounds, expected) in cases {
            for [least, most] in [[0.0, 1.0], [-1.0, 1.0], [10.0, 110.0]] {
                let scale = most - least;
                let row = MetricRow {
                    range: Some([least, most]),
                    ..between(Unit::Number, values.map(|v| least + scale * v), bounds.map(|b| scale * b))
                };
                let [low, high] = bounds.map(|b| scale * b);
                let swapped = MetricRow {
                    range: row.range,
                    ..between(Unit::Number, [row.other, row.baseline], [-high, -low])
                };
                assert_eq!([tells_nothing(&row), tells_nothing(&swapped)], [expected; 2], "{row:?}");
            }
        }
        // All rewards alike: the runs are equal.
        let equal = MetricRow { range: Some([1.0; 2]), ..between(Unit::Number, [1.0; 2], [0.0; 2]) };
        assert!(!tells_nothing(&equal));
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
