//! A ratio of two sums over clusters (responses, groups), with its standard error.

/// Σ part / Σ whole of pairs (whole, part), and its standard error by how the clusters scatter around it
/// (Cochran, Sampling Techniques, 6.4); infinite for fewer than two clusters.
#[must_use]
pub fn ratio_of_sums(pairs: impl Iterator<Item = [f64; 2]> + Clone) -> (f64, f64) {
    let [whole, part] = sum_of_pairs(pairs.clone());
    let ratio = part / whole;
    let (mut clusters, mut scatter) = (0.0, 0.0);
    for [of_whole, of_part] in pairs {
        clusters += 1.0;
        scatter += (of_part - ratio * of_whole).powi(2);
    }
    let error = (scatter * clusters / (clusters - 1.0_f64).max(0.0)).sqrt() / whole;
    (ratio, if clusters < 2.0 { f64::INFINITY } else { error })
}

/// The sums of pairs.
#[must_use]
pub fn sum_of_pairs(pairs: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    pairs.fold([0.0; 2], |sum, pair| [sum[0] + pair[0], sum[1] + pair[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clusters of equal size: the mean, and the standard error of a mean.
    #[test]
    fn equal_clusters_give_the_error_of_a_mean() {
        let (ratio, error) = ratio_of_sums([[2.0, 1.0], [2.0, 3.0], [2.0, 5.0]].into_iter());
        assert!((ratio - 1.5).abs() < 1e-12);
        // Values 0.5, 1.5, 2.5: deviation 1, over the root of 3.
        assert!((error - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12, "{error}");
    }

    #[test]
    fn one_cluster_has_no_known_error() {
        assert_eq!(ratio_of_sums(std::iter::once([2.0, 1.0])), (0.5, f64::INFINITY));
    }

    /// Of k clusters that alone have something, the mean is √k errors above 0.
    #[test]
    fn a_few_clusters_are_few_errors_above_nothing() {
        let far = |k: usize| (0..1_000).map(move |i| [10.0, if i < k { 5.0 } else { 0.0 }]);
        for k in 1..5 {
            let (ratio, error) = ratio_of_sums(far(k));
            assert!(ratio - 2.0 * error < 0.01 * ratio, "{k}: {ratio} {error}");
        }
        let (ratio, error) = ratio_of_sums(far(30));
        assert!(ratio - 2.0 * error > 0.5 * ratio);
    }
}
