//! Holm's correction for testing several hypotheses.

/// Adjusted p-values, in the order given; NaN is left out and stays NaN.
#[must_use]
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| !p_values[*i].is_nan()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut largest = 0.0_f64;
    for (before, index) in order.iter().enumerate() {
        let left = (order.len() - before) as f64;
        largest = largest.max((p_values[*index] * left).min(1.0));
        adjusted[*index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of statsmodels' `multipletests(p, method="holm")`.
    #[test]
    fn same_as_statsmodels() {
        let p = [0.01, 0.04, 0.03, 0.005, 0.55, 0.2];
        let expected = [0.05, 0.12, 0.12, 0.03, 0.55, 0.4];
        for (found, expected) in adjusted(&p).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(adjusted(&[0.5, 0.9]), [1.0, 1.0]);
        assert_eq!(adjusted(&[]), Vec::<f64>::new());
        let with_gap = adjusted(&[0.01, f64::NAN, 0.02]);
        assert!(with_gap[1].is_nan());
        assert_eq!((with_gap[0], with_gap[2]), (0.02, 0.02));
    }
}
