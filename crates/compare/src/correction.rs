//! The correction of p-values over everything that a comparison tests, and what can be said then.

use super::result::{Drawn, Family, Finding, MetricRow};
use super::testing::tells_nothing;
use stapo_base::stats::holm;
use stapo_base::stats::serial::FEWEST_STEPS;

/// The part of the level that the metrics named in advance share; the other families share the
/// rest.
const PRIMARY_SHARE: f64 = 0.5;
/// The same where runs are counted. Three a side have four degrees of freedom at most: a shift of
/// 4.5 scatters of one of three metrics is found in 62 of 100 cases, with half of the level in 47.
const PRIMARY_SHARE_OF_SEEDS: f64 = 0.8;

/// Corrects all rows together: pairs of runs without any difference are called different in at most
/// 1 − `confidence` of all cases, whatever the families.
pub fn correct(rows: &mut [MetricRow], confidence: f64) {
    let p: Vec<f64> = rows.iter().map(|row| row.p_value.unwrap_or(f64::NAN)).collect();
    let weights = weights(rows);
    let level = level(confidence);
    for (row, adjusted) in rows.iter_mut().zip(holm::weighted(&p, &weights)) {
        row.p_adjusted = Some(adjusted).filter(|p| !p.is_nan());
        // What is called different and the interval that is shown say the same, always.
        row.significant = adjusted <= level && !includes_zero(row) && !has_bare_steps(row);
    }
    for (i, row) in rows.iter_mut().enumerate() {
        row.smallest_p_adjusted = row.smallest_p.map(|smallest| {
            let mut best = p.clone();
            best[i] = smallest;
            holm::weighted(&best, &weights)[i]
        });
        row.finding = finding(row, level);
    }
}

/// The largest adjusted p that is called different.
pub fn level(confidence: f64) -> f64 {
    1.0 - confidence + 1e-12
}

/// Primary metrics share the larger part of the level, each other family that is there an equal part
/// of the rest. They depend on what is tested, never on what was found.
fn weights(rows: &[MetricRow]) -> Vec<f64> {
    let group = |row: &MetricRow| (!row.primary).then_some(row.family);
    let size = |of: Option<Family>| {
        rows.iter().filter(|row| row.p_value.is_some() && group(row) == of).count() as f64
    };
    let others = Family::ALL.into_iter().filter(|family| size(Some(*family)) > 0.0).count() as f64;
    let seeds = rows.iter().any(|row| row.test_unit == Drawn::Seeds);
    let primary = if seeds { PRIMARY_SHARE_OF_SEEDS } else { PRIMARY_SHARE };
    let weight = |row: &MetricRow| {
        let group = group(row);
        let share = if group.is_none() { primary } else { (1.0 - primary) / others.max(1.0) };
        share / size(group).max(1.0)
    };
    rows.iter().map(weight).collect()
}

/// Whether 0 lies in the interval of the difference. Steps count alike in the test, while large ones
/// weigh more in the mean and its interval: the two can disagree.
pub fn includes_zero(row: &MetricRow) -> bool {
    row.ci_low.zip(row.ci_high).is_some_and(|(low, high)| low <= 0.0 && high >= 0.0)
}

/// Whether neighbouring steps differ alike: more than 19 of 20 independent series do.
pub fn hangs_together(row: &MetricRow) -> bool {
    let most = 1.645 / (row.n.max(1) as f64).sqrt();
    row.test_unit == Drawn::Steps && row.autocorrelation.is_some_and(|found| found > most)
}

/// Whether the steps are worth too few independent ones, by the same estimate that makes the interval wider:
/// interval and p-value may be too good then.
pub fn has_few_left(row: &MetricRow) -> bool {
    row.test_unit == Drawn::Steps && row.effective_steps.is_some_and(|left| left < FEWEST_STEPS as f64)
}

/// Whether not even the clearest result of its test would be called different.
pub fn could_find_nothing(row: &MetricRow, level: f64) -> bool {
    row.smallest_p_adjusted.is_some_and(|p| p > level)
}

fn has_interval(row: &MetricRow) -> bool {
    row.ci_low.is_some() && row.ci_high.is_some()
}

/// Steps that are too few for an interval are too few to see whether they hang together: their ranks alone
/// decide nothing.
fn has_bare_steps(row: &MetricRow) -> bool {
    row.test_unit == Drawn::Steps && !has_interval(row)
}

fn finding(row: &MetricRow, level: f64) -> Finding {
    let called = row.p_adjusted.is_some_and(|p| p <= level);
    let excludes_zero = has_interval(row) && !includes_zero(row);
    if row.p_value.is_none() {
        Finding::NotTested
    } else if row.significant {
        Finding::Differs
    } else if called && has_interval(row) {
        Finding::Unclear
    } else if row.at_most.is_some() || (row.baseline == 0.0 && row.other == 0.0) {
        Finding::NoneSeen
    } else if could_find_nothing(row, level) {
        Finding::TooFew
    } else if excludes_zero {
        Finding::Unclear
    } else if has_few_left(row) || !has_interval(row) {
        Finding::TooFew
    } else if tells_nothing(row) {
        Finding::TooWide
    } else {
        Finding::NoDifference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, family: Family, primary: bool, p: f64) -> MetricRow {
        let (baseline, other) = (1.0, 2.0);
        let (ci_low, ci_high) = if p < 0.05 { (Some(0.1), Some(0.2)) } else { (Some(-0.1), Some(0.2)) };
        let (name, p_value) = (name.into(), Some(p));
        MetricRow { name, family, primary, p_value, baseline, other, ci_low, ci_high, ..MetricRow::default() }
    }

    #[test]
    fn all_families_share_one_level() {
        let mut rows = vec![
            row("reward", Family::Framework, true, 0.004),
            row("entropy", Family::Framework, true, 0.9),
            row("risk", Family::Framework, false, 0.004),
            row("a", Family::Classes, false, 0.9),
            row("b", Family::Classes, false, 0.9),
        ];
        correct(&mut rows, 0.95);
        // Half of the level over two metrics, a quarter over one.
        assert!((rows[0].p_adjusted.unwrap_or(1.0) - 0.016).abs() < 1e-12);
        assert!((rows[2].p_adjusted.unwrap_or(1.0) - 0.016).abs() < 1e-12);
        assert!(rows[0].significant && !rows[1].significant);
        assert_eq!((rows[0].finding, rows[1].finding), (Finding::Differs, Finding::NoDifference));
        let mut alone = vec![row("a", Family::Classes, false, 0.04)];
        correct(&mut alone, 0.95);
        assert!((alone[0].p_adjusted.unwrap_or(1.0) - 0.04).abs() < 1e-12);
    }

    /// With few runs the metrics named in advance come first; what they do not use is passed on.
    #[test]
    fn seeds_give_most_of_the_level_to_what_was_named_in_advance() {
        let seeds = |p: f64, primary: bool| MetricRow {
            test_unit: Drawn::Seeds,
            ..row("x", Family::Framework, primary, p)
        };
        let mut rows = vec![seeds(0.013, true), seeds(0.9, true), seeds(0.9, true), seeds(0.01, false)];
        correct(&mut rows, 0.95);
        assert!((rows[0].p_adjusted.unwrap_or(1.0) - 0.013 * 3.0 / 0.8).abs() < 1e-12);
        assert!(rows[0].significant && rows[3].significant, "{rows:?}");
        rows[0].p_value = Some(0.02);
        correct(&mut rows, 0.95);
        assert!(!rows[0].significant && rows[3].p_adjusted.is_some_and(|p| (p - 0.05).abs() < 1e-12));
    }

    /// A sign in every step, and a mean that one large step decides.
    #[test]
    fn what_is_called_different_has_an_interval_without_0() {
        let mut rows = vec![row("length", Family::Framework, true, 1e-6); 2];
        (rows[0].ci_low, rows[0].ci_high) = (Some(-0.4), Some(10.5));
        (rows[1].ci_low, rows[1].ci_high) = (Some(0.4), Some(10.5));
        correct(&mut rows, 0.95);
        assert_eq!((rows[0].significant, rows[0].finding), (false, Finding::Unclear));
        assert_eq!((rows[1].significant, rows[1].finding), (true, Finding::Differs));
    }

    /// Twenty steps that are worth four: an interval around 0 says nothing.
    #[test]
    fn too_few_independent_steps_are_no_sign_of_no_difference() {
        let of = |left: f64, autocorrelation: f64| MetricRow {
            test_unit: Drawn::Steps,
            n: 20,
            autocorrelation: Some(autocorrelation),
            effective_steps: Some(left),
            ..row("entropy", Family::Framework, true, 0.4)
        };
        // Neighbours alone may say little: what counts is what the interval was made wider by.
        let mut rows = vec![of(4.0, 0.8), of(12.0, 0.8), of(4.0, 0.08)];
        correct(&mut rows, 0.95);
        let found: Vec<Finding> = rows.iter().map(|row| row.finding).collect();
        assert_eq!(found, [Finding::TooFew, Finding::NoDifference, Finding::TooFew]);
    }

    /// Five against five steps could have a p of 0.008, but nobody can say how they hang together.
    #[test]
    fn steps_without_an_interval_decide_nothing() {
        let of = |p: f64, test_unit: Drawn| MetricRow {
            test_unit,
            n: 5,
            smallest_p: Some(0.008),
            effective_steps: (test_unit == Drawn::Steps).then_some(5.0),
            ci_low: None,
            ci_high: None,
            ..row("pass_rate", Family::Questions, false, p)
        };
        for (p, unit) in [(0.8, Drawn::Steps), (0.008, Drawn::Steps), (0.8, Drawn::Groups)] {
            let mut rows = vec![of(p, unit)];
            correct(&mut rows, 0.95);
            assert_eq!((rows[0].significant, rows[0].finding), (false, Finding::TooFew), "{p} {unit}");
        }
    }

    #[test]
    fn what_could_not_be_found_is_said() {
        let mut rows =
            vec![row("reward", Family::Framework, true, 0.1), row("x", Family::Classes, false, 0.5)];
        rows[0].smallest_p = Some(0.1);
        (rows[1].ci_low, rows[1].ci_high) = (Some(0.1), Some(0.2));
        correct(&mut rows, 0.95);
        assert_eq!((rows[0].finding, rows[1].finding), (Finding::TooFew, Finding::Unclear));
        assert_eq!(rows[0].smallest_p_adjusted, Some(0.2));
    }
}
