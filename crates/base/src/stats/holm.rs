//! Holm's correction for testing several hypotheses, with weights.

/// Adjusted p-values, in the order given; NaN is left out and stays NaN.
#[must_use]
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    weighted(p_values, &vec![1.0; p_values.len()])
}

/// Adjusted p-values where hypotheses have positive weights (Holm 1979, section 4): one of twice the
/// weight may have twice the p-value. Whatever the weights, as long as they were chosen without
/// looking at the p-values, all hypotheses together keep the level.
#[must_use]
pub fn weighted(p_values: &[f64], weights: &[f64]) -> Vec<f64> {
    let ratio = |i: &usize| p_values[*i] / weights[*i];
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| !p_values[*i].is_nan()).collect();
    order.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut left = order.iter().map(|i| weights[*i]).sum::<f64>();
    let mut largest = 0.0_f64;
    for index in &order {
        largest = largest.max((ratio(index) * left).min(1.0));
        adjusted[*index] = largest;
        left -= weights[*index];
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

    #[test]
    fn weights_say_who_goes_first() {
        // 0.02/0.75 before 0.01/0.25; then 0.01 stands alone, but not below what came before.
        let found = weighted(&[0.02, 0.01], &[0.75, 0.25]);
        assert!((found[0] - 0.02 / 0.75).abs() < 1e-12 && (found[1] - found[0]).abs() < 1e-12, "{found:?}");
        let found = weighted(&[0.9, 0.005], &[0.5, 0.5]);
        assert_eq!((found[1], found[0]), (0.01, 0.9));
    }
}
