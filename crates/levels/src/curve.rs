//! A metric over the steps of a run, with the error that drawing its prompts and responses leaves.

use std::collections::BTreeMap;

use stapo_base::stats::ratio_of_sums::ratio_of_sums;

use crate::groups::RunGroups;
use crate::metric::Metric;

/// A metric at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepValue {
    /// Step.
    pub step: i64,
    /// Its value.
    pub value: f64,
    /// Standard error from the scatter of groups; absent where the step has one alone.
    pub error: Option<f64>,
}

impl RunGroups {
    /// Whether any group has the metric.
    #[must_use]
    pub fn has(&self, metric: Metric) -> bool {
        self.having(metric).next().is_some()
    }

    /// The metric at each step, ascending.
    #[must_use]
    pub fn curve(&self, metric: Metric) -> Vec<StepValue> {
        let mut steps: BTreeMap<i64, Vec<[f64; 2]>> = BTreeMap::new();
        for (key, totals) in self.having(metric) {
            steps.entry(key.step).or_default().push(totals.parts(metric));
        }
        steps.into_iter().map(|(step, groups)| step_value(step, &groups)).collect()
    }
}

fn step_value(step: i64, groups: &[[f64; 2]]) -> StepValue {
    let (value, error) = ratio_of_sums(groups.iter().map(|[num, den]| [*den, *num]));
    StepValue { step, value, error: Some(error).filter(|error| error.is_finite()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_mean_is_that_of_its_groups() {
        let found = step_value(3, &[[1.0, 2.0], [3.0, 2.0], [2.0, 2.0]]);
        // Means of 0.5, 1.5 and 1: a standard deviation of 0.5 over √3.
        assert_eq!((found.step, found.value), (3, 1.0));
        assert!((found.error.unwrap_or(0.0) - 0.5 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(step_value(0, &[[1.0, 2.0]]).error, None);
    }
}
