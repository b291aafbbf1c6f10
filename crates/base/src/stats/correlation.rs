//! Pearson and Spearman correlation.

use super::exact_sum::ExactSum;

/// Sums that give Pearson's correlation; merging them in any order gives the same bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PearsonSums {
    centre: (f64, f64),
    count: u64,
    x: ExactSum,
    y: ExactSum,
    xx: ExactSum,
    yy: ExactSum,
    xy: ExactSum,
}

impl PearsonSums {
    /// Empty sums. Values are taken relative to `centre_x` and `centre_y`, fixed guesses of the
    /// means: the closer, the less the variances cancel.
    #[must_use]
    pub fn new(centre_x: f64, centre_y: f64) -> Self {
        let zero = ExactSum::new();
        Self { centre: (centre_x, centre_y), count: 0, x: zero, y: zero, xx: zero, yy: zero, xy: zero }
    }

    /// Adds a pair; pairs with NaN or infinity are left out.
    #[inline]
    pub fn add(&mut self, x: f64, y: f64) {
        let (x, y) = (x - self.centre.0, y - self.centre.1);
        if !(x.is_finite() && y.is_finite()) {
            return;
        }
        self.count += 1;
        self.x.add(x);
        self.y.add(y);
        self.xx.add(x * x);
        self.yy.add(y * y);
        self.xy.add(x * y);
    }

    /// Adds the pairs of other sums of the same centres.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.centre, other.centre);
        self.count += other.count;
        self.x.merge(&other.x);
        self.y.merge(&other.y);
        self.xx.merge(&other.xx);
        self.yy.merge(&other.yy);
        self.xy.merge(&other.xy);
    }

    /// Number of pairs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The correlation; None where a variable does not vary.
    #[must_use]
    pub fn correlation(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let n = self.count as f64;
        let (mean_x, mean_y) = (self.x.value() / n, self.y.value() / n);
        // Differences below the rounding of the mean squares are no variation.
        let spread = |square: f64, mean: f64| {
            let variance = square / n - mean * mean;
            (variance > 1e-14 * square / n).then_some(variance)
        };
        let variance_x = spread(self.xx.value(), mean_x)?;
        let variance_y = spread(self.yy.value(), mean_y)?;
        let covariance = self.xy.value() / n - mean_x * mean_y;
        Some((covariance / (variance_x * variance_y).sqrt()).clamp(-1.0, 1.0))
    }
}

/// Spearman's rank correlation, exact, ties given their average rank. Pairs with NaN are left out;
/// None where a variable does not vary or lengths differ.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    let (x, y): (Vec<f64>, Vec<f64>) = x.iter().zip(y).filter(|(a, b)| !a.is_nan() && !b.is_nan()).unzip();
    let centre = (x.len() as f64 + 1.0) / 2.0;
    let mut sums = PearsonSums::new(centre, centre);
    for (a, b) in average_ranks(&x).into_iter().zip(average_ranks(&y)) {
        sums.add(a, b);
    }
    sums.correlation()
}

fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let average = start as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|&index| ranks[index] = average);
        start += tied.len();
    }
    ranks
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_and_constants() {
        let mut sums = PearsonSums::new(0.0, 0.0);
        assert_eq!(sums.correlation(), None);
        (0..9).for_each(|i| sums.add(f64::from(i), 3.0 - 2.0 * f64::from(i)));
        sums.add(f64::NAN, 1.0);
        assert_eq!(sums.count(), 9);
        assert!((sums.correlation().unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0], &[1.0, 2.0]), None);
    }

    /// Pearson of the ranks (1, 2.5, 2.5, 4, 5) and (2, 1, 3.5, 3.5, 5), by numpy.
    #[test]
    fn ties_have_their_average_rank() {
        let rho = spearman(&[1.0, 2.0, 2.0, 4.0, 5.0], &[2.0, 1.0, 3.0, 3.0, 9.0]).unwrap();
        assert!((rho - 0.763157894736842).abs() < 1e-12, "{rho}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn merged_parts_equal_the_whole(pairs in prop::collection::vec((0.0..9.0_f64, 0.0..9.0_f64), 2..200)) {
            let fill = |pairs: &[(f64, f64)]| {
                let mut sums = PearsonSums::new(4.5, 4.5);
                pairs.iter().for_each(|&(x, y)| sums.add(x, y));
                sums
            };
            let (left, right) = pairs.split_at(pairs.len() / 3);
            let mut merged = fill(right);
            merged.merge(&fill(left));
            prop_assert_eq!(merged.correlation(), fill(&pairs).correlation());
        }
    }
}
