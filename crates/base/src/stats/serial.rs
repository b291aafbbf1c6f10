//! Serial correlation: how far the mean of a series of steps can be trusted.
//!
//! The variance of a mean is the spectrum of the series at frequency 0, which neighbours that hang
//! together raise. It is estimated by the squares of the series' lowest cosines (equal-weighted
//! cosines, Müller 2007; Lazarus, Lewis, Stock and Watson 2018): with ν of them, the mean over its
//! error is Student's t with ν degrees of freedom, so that a short series pays for what it cannot
//! know. How many cosines are low enough follows from how long the series remembers.

use std::f64::consts::PI;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Values below which nothing can be said of how they hang together.
pub const FEWEST_STEPS: usize = 6;
/// Cosines beyond which more would not change a quantile of t.
const MOST_COSINES: usize = 256;
/// Fewer leave nothing to estimate a variance from.
const FEWEST_COSINES: usize = 2;
/// Cosines for a memory of one step, by n^⅔: as few as keep independent, half and wholly correlated
/// series of 9 to 500 steps near their level (docs/statistics.md has the rates).
const COSINES: f64 = 0.7;
/// The longest memory that is told from a trend.
const LONGEST_MEMORY: f64 = 0.97;

/// How the values of a series hang together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Serial {
    /// Correlation of neighbours about the straight trend; `None` with too few values.
    pub autocorrelation: Option<f64>,
    /// How many independent values the series is worth.
    pub effective: f64,
    /// How much wider an interval has to be than that of independent values.
    pub inflation: f64,
    /// Values.
    values: f64,
    /// Degrees of freedom of the variance of the mean.
    freedom: f64,
    /// Mean over its standard error; `None` where there is none.
    t: Option<f64>,
}

/// Looks at the values about their straight trend: a steady drift of one run away from another is a
/// difference of the two, not noise.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn serial(values: &[f64]) -> Serial {
    let n = values.len() as f64;
    let unknown =
        Serial { autocorrelation: None, effective: n, inflation: 1.0, values: n, freedom: n - 2.0, t: None };
    if values.len() < FEWEST_STEPS {
        return unknown;
    }
    let residuals = about_line(values);
    let square = residuals.iter().map(|r| r * r).sum::<f64>();
    // What rounding leaves of a straight line is no scatter, and of values that squares cannot hold
    // nothing can be said.
    if !square.is_finite() || square <= 1e-24 * values.iter().map(|v| v * v).sum::<f64>() {
        return unknown;
    }
    let at_lag = |lag: usize| {
        let pairs = residuals.iter().zip(&residuals[lag..]);
        pairs.map(|(a, b)| a * b).sum::<f64>() / square
    };
    let first = at_lag(1);
    // The memory of a first-order process, corrected for its bias towards −∞ in short series
    // (Kendall); and that of one under noise, whose neighbours say less than all near lags together.
    let lags = ((n.sqrt() / 1.5) as usize).max(2);
    let near = (1..=lags).map(|lag| at_lag(lag) + 2.0 / n).sum::<f64>();
    let memory = ((n * first + 2.0) / (n - 4.0)).max(memory_of(near, lags)).clamp(0.0, LONGEST_MEMORY);
    // The fewer, the more the spectrum bends near 0: 2ρ/(1 − ρ)² of a first-order process.
    let bend = (2.0 * memory).sqrt() / (1.0 - memory);
    let most = (values.len() - 2).min(MOST_COSINES);
    let cosines = (COSINES * (n / bend).powf(2.0 / 3.0)).min(most as f64) as usize;
    let cosines = cosines.max(FEWEST_COSINES);
    let at_zero = lowest(&residuals, cosines);
    if at_zero <= 0.0 {
        return Serial { autocorrelation: Some(first), ..unknown };
    }
    let ratio = at_zero / (square / (n - 2.0));
    let mean = values.iter().sum::<f64>() / n;
    Serial {
        autocorrelation: Some(first),
        effective: (n / ratio).clamp(1.0, n),
        inflation: ratio.sqrt().max(1.0),
        freedom: cosines as f64,
        t: Some(mean / (at_zero / n).sqrt()),
        ..unknown
    }
}

impl Serial {
    /// The two-sided p-value of a mean of 0, by Student's t; `None` with too few values, or where
    /// they do not scatter.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        let student = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        Some((2.0 * student.sf(self.t.filter(|t| t.is_finite())?.abs())).min(1.0))
    }

    /// By how much an interval of independent values has to be wider at a level of confidence: for
    /// what hangs together, and for not knowing it well.
    #[must_use]
    pub fn widening(&self, confidence: f64) -> f64 {
        let quantile = |freedom: f64| {
            StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |t| t.inverse_cdf(0.5 + confidence / 2.0))
        };
        if self.t.is_none() {
            return 1.0;
        }
        (self.inflation * quantile(self.freedom) / quantile(self.values - 1.0)).max(1.0)
    }
}

/// The mean square of the lowest cosines that are no straight line: the spectrum near frequency 0.
fn lowest(residuals: &[f64], cosines: usize) -> f64 {
    let n = residuals.len() as f64;
    let square = |number: usize| {
        let angle = |at: usize| PI * number as f64 * (at as f64 + 0.5) / n;
        let part = residuals.iter().enumerate().map(|(at, r)| r * angle(at).cos()).sum::<f64>();
        2.0 / n * part * part
    };
    // The first is all but the line itself, which was taken out.
    (2..cosines + 2).map(square).sum::<f64>() / cosines as f64
}

/// The memory ρ of a first-order process whose correlations ρ, ρ², … up to `lags` add up to `sum`.
fn memory_of(sum: f64, lags: usize) -> f64 {
    let added = |memory: f64| (1..=lags).fold((0.0, 1.0), |(s, p), _| (s + p * memory, p * memory)).0;
    let (mut low, mut high) = (0.0, LONGEST_MEMORY);
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if added(middle) < sum { low = middle } else { high = middle }
    }
    low
}

/// Residuals of the least-squares line.
fn about_line(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / n;
    let (mut xx, mut xy) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let x = i as f64 - centre;
        xx += x * x;
        xy += x * (value - mean);
    }
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    values.iter().enumerate().map(|(i, v)| v - mean - slope * (i as f64 - centre)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stats::random::Random;
    use crate::stats::wilcoxon::signed_rank;

    #[test]
    fn nothing_is_said_of_what_squares_cannot_hold() {
        for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, f64::MAX] {
            let mut values: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
            values[20] = odd;
            assert!(serial(&values).p_value().is_none(), "{odd}");
            assert_eq!(serial(&values).widening(0.95), 1.0);
        }
    }

    /// A series that is partly noise and partly a first-order process.
    fn wandering(random: &mut Random, n: usize, rho: f64, share: f64) -> Vec<f64> {
        let mut state = random.normal();
        (0..n)
            .map(|_| {
                state = rho * state + (1.0 - rho * rho).sqrt() * random.normal();
                share.sqrt() * state + (1.0 - share).sqrt() * random.normal()
            })
            .collect()
    }

    /// Shares of series with p ≤ 0.05: ranks alone, and the larger of ranks' and the mean's.
    fn called(n: usize, rho: f64, share: f64, shift: f64) -> (f64, f64) {
        let mut random = Random::new(7, n as u64);
        let (mut ranks, mut both) = (0, 0);
        for _ in 0..2_000 {
            let mut values = wandering(&mut random, n, rho, share);
            values.iter_mut().for_each(|v| *v += shift / (n as f64).sqrt());
            let p = signed_rank(&values);
            ranks += u32::from(p <= 0.05);
            both += u32::from(p.max(serial(&values).p_value().unwrap()) <= 0.05);
        }
        (f64::from(ranks) / 2_000.0, f64::from(both) / 2_000.0)
    }

    #[test]
    fn independent_series_keep_the_level_and_find_what_is_there() {
        for n in [9, 12, 40] {
            let (_, level) = called(n, 0.0, 1.0, 0.0);
            assert!(level <= 0.05, "{level} of {n} steps");
        }
        let (_, found) = called(40, 0.0, 1.0, 4.0);
        assert!(found > 0.85, "{found}");
    }

    /// Two runs of one method drift apart and together again: a test that takes steps as independent
    /// calls many of them different.
    #[test]
    fn series_that_wander_are_rarely_called_different() {
        for (n, rho, share, most) in
            [(12, 0.5, 0.5, 0.085), (40, 0.5, 0.5, 0.085), (40, 0.5, 1.0, 0.09), (120, 0.8, 0.5, 0.115)]
        {
            let (ranks, both) = called(n, rho, share, 0.0);
            assert!(both <= most && both < 0.7 * ranks, "{both}, ranks {ranks}: {n} steps, {rho}, {share}");
        }
    }

    #[test]
    fn correlated_values_count_less() {
        let mut random = Random::new(2, 0);
        let found: Vec<Serial> = (0..200).map(|_| serial(&wandering(&mut random, 400, 0.8, 1.0))).collect();
        let mean = found.iter().map(|s| s.effective).sum::<f64>() / 200.0;
        assert!((30.0..80.0).contains(&mean), "{mean}, not about 400/9");
        assert!(found.iter().all(|s| s.widening(0.95) > 1.5));
    }

    #[test]
    fn a_trend_and_few_values_are_no_noise() {
        assert_eq!(serial(&[0.0; 30]).p_value(), None);
        let line: Vec<f64> = (0..30).map(f64::from).collect();
        assert_eq!((serial(&line).p_value(), serial(&line).widening(0.95)), (None, 1.0));
        assert_eq!((serial(&[1.0, 2.0]).autocorrelation, serial(&[1.0, 2.0]).p_value()), (None, None));
        let mut random = Random::new(3, 0);
        let drifting: Vec<f64> = (0..11).map(|i| f64::from(i) + 0.5 * random.normal()).collect();
        assert!(serial(&drifting).p_value().unwrap() < 0.01);
    }
}
