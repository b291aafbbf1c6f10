//! Series over steps: where they begin and where they end.

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

/// Medians of the first and the last quarter (one to five steps).
pub fn ends(series: &Series) -> (f64, f64) {
    let quarter = (series.len() / 4).clamp(1, 5).min(series.len());
    (median(&series[..quarter]), median(&series[series.len() - quarter..]))
}

/// One number of evidence.
pub fn evidence(step: Option<i64>, what: &str, value: f64) -> Evidence {
    Evidence { step, what: what.into(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Series {
        values.iter().enumerate().map(|(i, v)| (i as i64 * 10, *v)).collect()
    }

    #[test]
    fn ends_are_medians() {
        let falling = of(&[4.0, 4.0, 3.0, 2.0, 0.1, 0.3, 0.1, 0.1]);
        assert_eq!(ends(&falling), (4.0, 0.1));
    }
}
