//! Welch's t for the means of two independent samples of unequal scatter. It takes the values as
//! about normal, so it can speak where ranks cannot: three values a side.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::bootstrap::squares_about_mean;

/// The difference of two means, with what it scatters by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the second sample minus that of the first.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom, after Satterthwaite.
    pub freedom: f64,
}

impl Welch {
    /// `None` where a sample has fewer than two values, or neither scatters: without scatter the
    /// samples say nothing of what another value would be. Nor where squares overflow.
    #[must_use]
    pub fn of(left: &[f64], right: &[f64]) -> Option<Self> {
        if left.len() < 2 || right.len() < 2 || !has_squares(left) || !has_squares(right) {
            return None;
        }
        let parts = [left, right].map(|values| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = squares_about_mean(values) / (n - 1.0);
            // What rounding leaves of equal values is no scatter.
            let noise = (1e-14 * mean).powi(2);
            (mean, if variance > noise { variance / n } else { 0.0 }, n - 1.0)
        });
        let variance = parts[0].1 + parts[1].1;
        (variance > 0.0).then(|| Self {
            difference: parts[1].0 - parts[0].0,
            error: variance.sqrt(),
            freedom: variance * variance / parts.iter().map(|p| p.1 * p.1 / p.2).sum::<f64>(),
        })
    }

    /// The two-sided p-value.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        let student = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        let t = self.difference / self.error;
        t.is_finite().then(|| (2.0 * student.sf(t.abs())).min(1.0))
    }

    /// The interval of the difference.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<[f64; 2]> {
        let student = StudentsT::new(0.0, 1.0, self.freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
        let half = student * self.error;
        Some([self.difference - half, self.difference + half])
    }
}

/// Whether all values are numbers whose squares add up to one.
fn has_squares(values: &[f64]) -> bool {
    values.iter().map(|v| v * v).sum::<f64>().is_finite()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn nothing_is_said_of_what_squares_cannot_hold() {
        let usual = [1.0, 2.0, 3.0];
        for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, f64::MAX] {
            let values = [1.0, odd, 2.0];
            assert!(Welch::of(&usual, &values).and_then(|welch| welch.p_value()).is_none(), "{odd}");
        }
    }

    /// Values of SciPy's `ttest_ind(x, y, equal_var=False)`.
    #[test]
    fn same_as_scipy() {
        let found = Welch::of(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert!((found.freedom - 4.0).abs() < 1e-12);
        assert!((found.p_value().unwrap() - 0.021_311_641_128_756_7).abs() < 1e-9);
        let [low, high] = found.interval(0.95).unwrap();
        assert!((low - (3.0 - 2.776_445_105_197_8 * found.error)).abs() < 1e-6 && low + high == 6.0);
    }

    #[test]
    fn without_scatter_there_is_no_test() {
        assert_eq!(Welch::of(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert_eq!(Welch::of(&[0.1 + 0.2, 0.3], &[0.3, 0.3]), None);
        assert_eq!(Welch::of(&[1.0], &[2.0, 3.0]), None);
    }

    #[test]
    fn three_against_three_keep_the_level_and_find_what_is_there() {
        let mut random = Random::new(3, 0);
        let mut called = [0, 0];
        for _ in 0..4_000 {
            for (shift, called) in [0.0, 6.0].into_iter().zip(&mut called) {
                let mut side = |shift: f64| [0; 3].map(|_| random.normal() + shift);
                let (left, right) = (side(0.0), side(shift));
                *called += u32::from(Welch::of(&left, &right).unwrap().p_value().unwrap() <= 0.05);
            }
        }
        assert!(called[0] <= 220, "{} of 4000 where nothing differs", called[0]);
        assert!(called[1] > 3_800, "{} of 4000 where six scatters differ", called[1]);
    }
}
