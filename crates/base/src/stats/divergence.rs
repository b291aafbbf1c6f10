//! How far apart two distributions of counts are.

/// The Jensen–Shannon distance: the root of the divergence in bits, from 0 (equal) to 1 (nothing in
/// common). `None` where a side is empty.
#[must_use]
pub fn jensen_shannon(counts: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let (left, right) = counts.clone().fold((0.0, 0.0), |sums, (l, r)| (sums.0 + l, sums.1 + r));
    if !(left > 0.0 && right > 0.0) {
        return None;
    }
    let term = |p: f64, mean: f64| if p > 0.0 { p * (p / mean).log2() } else { 0.0 };
    let divergence = counts
        .map(|(l, r)| {
            let (p, q) = (l / left, r / right);
            let mean = 0.5 * (p + q);
            0.5 * (term(p, mean) + term(q, mean))
        })
        .sum::<f64>();
    Some(divergence.clamp(0.0, 1.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy.spatial.distance.jensenshannon(p, q, base=2).
    #[test]
    fn same_as_scipy() {
        let distance = |p: &[f64], q: &[f64]| {
            let pairs: Vec<(f64, f64)> = p.iter().copied().zip(q.iter().copied()).collect();
            jensen_shannon(pairs.into_iter())
        };
        let close = |found: Option<f64>, expected: f64| {
            assert!(found.is_some_and(|f| (f - expected).abs() < 1e-12), "{found:?} {expected}");
        };
        close(distance(&[1.0, 0.0], &[0.0, 1.0]), 1.0);
        close(distance(&[1.0, 0.0], &[0.5, 0.5]), 0.557_923_045_284_143_8);
        close(distance(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), 0.354_703_515_198_132_04);
        close(distance(&[4.0, 4.0], &[1.0, 1.0]), 0.0);
        assert_eq!(distance(&[0.0], &[1.0]), None);
    }
}
