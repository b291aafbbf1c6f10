//! Quantities of single steps.

use stapo_base::stats::quantile::select_quantile;
use stapo_result::StepRow;

/// A quantity at the steps that have it.
pub fn values_at(steps: &[StepRow], value: impl Fn(&StepRow) -> Option<f64>) -> Vec<(i64, f64)> {
    steps.iter().filter_map(|row| Some((row.step, value(row)?))).collect()
}

/// The median of some values.
pub fn median(values: &[(i64, f64)]) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    select_quantile(&mut values, 0.5).unwrap_or(0.0)
}
