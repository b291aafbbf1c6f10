//! Series over steps.

use crate::analyze::result::{Evidence, StepRow};
use crate::stats::quantile::select_quantile;

/// The values of one quantity at the steps that have it.
pub type Series = Vec<(i64, f64)>;

/// A quantity over the steps.
pub fn series(steps: &[StepRow], value: impl Fn(&StepRow) -> Option<f64>) -> Series {
    steps.iter().filter_map(|row| Some((row.step, value(row)?))).collect()
}

/// The median of some values.
pub fn median(values: &[(i64, f64)]) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    select_quantile(&mut values, 0.5).unwrap_or(0.0)
}

/// The level of a signal that changed for good: a mean of the last steps, which no single step has.
pub fn at_the_end(signal: &str, level: f64) -> Evidence {
    evidence(None, &format!("{signal} at the end"), level)
}

/// One number of evidence.
pub fn evidence(step: Option<i64>, what: &str, value: f64) -> Evidence {
    Evidence { step, what: what.into(), value }
}
