//! Shape of a series over steps: its slope, its falls and rises, and how it scatters about itself.

use super::quantile::select_quantile;

/// Points that all pairs are taken of; longer series are thinned evenly.
const POINTS: usize = 1_500;

/// The robust slope of Theil and Sen: the median of the slopes of all pairs of points. `None` with
/// fewer than two different x.
#[must_use]
pub fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let stride = points.len().div_ceil(POINTS).max(1);
    let points: Vec<(f64, f64)> = points.iter().step_by(stride).copied().collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (i, a) in points.iter().enumerate() {
        slopes.extend(points[i + 1..].iter().filter(|b| b.0 != a.0).map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    select_quantile(&mut slopes, 0.5)
}

/// The scatter about the series' own trend: each point is held against the line through its two
/// neighbours, so that a trend of any smooth shape does not count. Scaled such that independent
/// noise of standard deviation σ gives σ. `None` with fewer than three points.
#[must_use]
pub fn spread_about_trend(points: &[(f64, f64)]) -> Option<f64> {
    let square = |w: &[(f64, f64)]| {
        let way = (w[1].0 - w[0].0) / (w[2].0 - w[0].0);
        let residual = w[1].1 - (w[0].1 + way * (w[2].1 - w[0].1));
        residual * residual / (1.0 + way * way + (1.0 - way) * (1.0 - way))
    };
    let squares: Vec<f64> = points.windows(3).filter(|w| w[2].0 > w[0].0).map(square).collect();
    (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

/// The largest fall below an earlier value (0 where it never falls).
#[must_use]
pub fn drawdown(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut best = f64::NEG_INFINITY;
    values.into_iter().fold(0.0, |fall: f64, value| {
        best = best.max(value);
        fall.max(best - value)
    })
}

/// The largest rise above an earlier value (0 where it never rises).
#[must_use]
pub fn run_up(values: impl IntoIterator<Item = f64>) -> f64 {
    drawdown(values.into_iter().map(|v| -v))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn slopes_ignore_a_few_outliers() {
        let mut points: Vec<(f64, f64)> = (0..50).map(|i| (f64::from(i), 3.0 - 0.5 * f64::from(i))).collect();
        points[7].1 = 900.0;
        assert!((theil_sen(&points).unwrap() + 0.5).abs() < 1e-9);
        assert_eq!(theil_sen(&[(1.0, 1.0), (1.0, 2.0)]), None);
        let long: Vec<(f64, f64)> = (0..9_000).map(|i| (f64::from(i), f64::from(i) * 2.0)).collect();
        assert_eq!(theil_sen(&long), Some(2.0));
    }

    #[test]
    fn spread_is_that_of_the_noise_whatever_the_trend() {
        let mut random = Random::new(3, 0);
        let mut x = 0.0;
        let points: Vec<(f64, f64)> = (0..4_000)
            .map(|_| {
                x += 0.5 + random.unit();
                (x, (x / 900.0).sin() * 5.0 + 0.1 * random.normal())
            })
            .collect();
        assert!((spread_about_trend(&points).unwrap() - 0.1).abs() < 0.005);
        assert_eq!(spread_about_trend(&points[..2]), None);
        assert_eq!(spread_about_trend(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]), Some(0.0));
    }

    #[test]
    fn falls_and_rises() {
        let values = [3.0, 5.0, 2.0, 4.0, 4.5, 1.0, 1.5];
        assert_eq!(drawdown(values), 4.0);
        assert_eq!(run_up(values), 2.5);
        assert_eq!(drawdown([1.0, 2.0]), 0.0);
        assert_eq!(drawdown([]), 0.0);
    }
}
