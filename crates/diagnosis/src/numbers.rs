//! Numbers behind warnings, and quantities of single steps.

use stapo_base::stats::quantile::select_quantile;
use stapo_base::stats::sustained::Point;
use stapo_result::{Evidence, StepRow};

/// The level of a signal that changed for good: a mean of the last steps, which no single step has.
pub fn at_the_end(signal: &str, level: f64) -> Evidence {
    evidence(None, &format!("{signal} at the end"), level)
}

/// One number of evidence.
pub fn evidence(step: Option<i64>, what: &str, value: f64) -> Evidence {
    Evidence { step, what: what.into(), value, healthy: None }
}

/// A quantity at the steps that have it.
pub fn values_at(steps: &[StepRow], value: impl Fn(&StepRow) -> Option<f64>) -> Vec<(i64, f64)> {
    steps.iter().filter_map(|row| Some((row.step, value(row)?))).collect()
}

/// The median of some values.
pub fn median(values: &[(i64, f64)]) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    select_quantile(&mut values, 0.5).unwrap_or(0.0)
}

/// A share with the error of a share of so many.
pub fn share_of(step: i64, value: f64, of: f64) -> Point {
    // One more of each kind, so that no share is certain.
    let likely = (value * of + 1.0) / (of + 2.0);
    Point { step, value, error: Some((likely * (1.0 - likely) / of).sqrt()) }
}
