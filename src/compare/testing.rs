//! The tests of a metric, and the most that each could have found.

use super::result::{Drawn, MetricRow, Test};
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
    if let Some(bounds) = welch.interval(confidence) {
        [row.ci_low, row.ci_high] = bounds.map(Some);
        row.interval = Drawn::Seeds;
    }
    samples(left, right, Drawn::Seeds, row);
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
