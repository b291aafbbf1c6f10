//! Sizes of an effect: how often one value is above another, and by how much it is shifted.

use super::quantile::select_quantile;

/// Pairs that the shift is a median of at most; beyond, evenly spaced values stand for all.
const PAIRS: usize = 1 << 20;

/// Cliff's delta: the share of pairs with `y` above `x` minus the share with `y` below; from −1 to
/// 1. `None` where a sample is empty.
#[must_use]
pub fn cliffs_delta(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let mut sorted = x.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let net = y.iter().map(|v| {
        let below = sorted.partition_point(|x| x < v);
        let above = sorted.len() - sorted.partition_point(|x| x <= v);
        below as f64 - above as f64
    });
    Some(net.sum::<f64>() / (x.len() as f64 * y.len() as f64))
}

/// Cliff's delta within pairs: the share of positive minus the share of negative differences.
#[must_use]
pub fn paired_delta(differences: &[f64]) -> Option<f64> {
    let sign = |d: &f64| f64::from(i8::from(*d > 0.0) - i8::from(*d < 0.0));
    (!differences.is_empty()).then(|| differences.iter().map(sign).sum::<f64>() / differences.len() as f64)
}

/// The shift of Hodges and Lehmann between two samples: the median of all differences y − x.
#[must_use]
pub fn shift(x: &[f64], y: &[f64]) -> Option<f64> {
    let most = PAIRS.isqrt();
    let (x, y) = (spread(x, most), spread(y, most));
    let mut all: Vec<f64> = y.iter().flat_map(|y| x.iter().map(move |x| y - x)).collect();
    select_quantile(&mut all, 0.5)
}

/// The same for paired differences: the median of the means of all pairs of them, each with itself
/// included.
#[must_use]
pub fn paired_shift(differences: &[f64]) -> Option<f64> {
    let d = spread(differences, (2 * PAIRS).isqrt());
    let mut means: Vec<f64> = (0..d.len())
        .flat_map(|i| d[i..].iter().map(|other| 0.5 * (d[i] + other)).collect::<Vec<_>>())
        .collect();
    select_quantile(&mut means, 0.5)
}

/// At most `most` order statistics, evenly spaced.
fn spread(values: &[f64], most: usize) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.len() <= most {
        return sorted;
    }
    (0..most).map(|i| sorted[(2 * i + 1) * sorted.len() / (2 * most)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_count_pairs() {
        assert_eq!(cliffs_delta(&[1.0, 2.0, 3.0], &[2.0, 4.0]), Some((0.0 + 3.0) / 6.0));
        assert_eq!(cliffs_delta(&[1.0], &[1.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(paired_delta(&[1.0, -2.0, 0.0, 4.0]), Some(0.25));
        assert_eq!(paired_delta(&[]), None);
    }

    #[test]
    fn shifts_are_medians_of_pairs() {
        assert_eq!(shift(&[1.0, 2.0], &[4.0, 8.0]), Some(4.5));
        assert_eq!(paired_shift(&[1.0, 3.0, 8.0]), Some(3.75));
        assert_eq!(paired_shift(&[]), None);
        assert_eq!(shift(&[], &[1.0]), None);
    }

    #[test]
    fn large_samples_stay_near_the_exact_shift() {
        let x: Vec<f64> = (0..5_000).map(|i| (f64::from(i) * 0.618_034).fract()).collect();
        let y: Vec<f64> = x.iter().map(|x| x * x + 0.5).collect();
        // E.g. the median of y − x for uniform x and squared uniform y + ½.
        let found = shift(&x, &y).unwrap_or(f64::NAN);
        let mut all: Vec<f64> =
            y.iter().step_by(3).flat_map(|y| x.iter().step_by(3).map(move |x| y - x)).collect();
        let expected = select_quantile(&mut all, 0.5).unwrap_or(f64::NAN);
        assert!((found - expected).abs() < 2e-3, "{found} {expected}");
    }
}
