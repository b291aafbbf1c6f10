//! Histograms of fixed bins, which merge by adding counts.

/// Equal bins between two limits; values outside fall into the end bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    bins: usize,
    bins_per_unit: f64,
}

impl Axis {
    /// `bins` equal bins (at least one) on [`low`, `high`]. Limits that do not ascend give an axis
    /// that puts everything into its first bin.
    #[must_use]
    pub fn new(low: f64, high: f64, bins: usize) -> Self {
        let bins = bins.max(1);
        let width = high - low;
        let bins_per_unit = if width > 0.0 { bins as f64 / width } else { 0.0 };
        Self { low, high, bins, bins_per_unit }
    }

    /// Number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The bin of `value`; NaN falls into the first, so leave it out beforehand.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn index(&self, value: f64) -> usize {
        let index = ((value - self.low) * self.bins_per_unit) as usize;
        if index < self.bins { index } else { self.bins - 1 }
    }

    /// The left edge of bin `index`, or the right end of the axis for `index` = `bins()`.
    #[must_use]
    pub fn edge(&self, index: usize) -> f64 {
        self.low + (self.high - self.low) * (index as f64 / self.bins as f64)
    }
}

/// Counts along one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    axis: Axis,
    counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new(axis: Axis) -> Self {
        Self { axis, counts: vec![0; axis.bins] }
    }

    /// The axis.
    #[must_use]
    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    /// One count per bin.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Number of values added.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Counts `value`, which must not be NaN.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.counts[self.axis.index(value)] += 1;
    }

    /// Adds another histogram of the same axis.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.axis, other.axis);
        add_counts(&mut self.counts, &other.counts);
    }

    /// The `q`-quantile with values spread evenly inside their bin: off by at most one bin width
    /// for values within the axis. None if empty or `q` is not in [0, 1].
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let total = self.total();
        if total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = q * total as f64;
        let mut below = 0.0;
        let mut last = None;
        for (index, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = count as f64;
            if below + count >= rank {
                let (left, right) = (self.axis.edge(index), self.axis.edge(index + 1));
                return Some(left + (right - left) * ((rank - below) / count));
            }
            below += count;
            last = Some(self.axis.edge(index + 1));
        }
        last
    }
}

/// Counts over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram2d {
    x: Axis,
    y: Axis,
    counts: Vec<u64>,
}

impl Histogram2d {
    /// An empty histogram.
    #[must_use]
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, counts: vec![0; x.bins * y.bins] }
    }

    /// The axis along a row.
    #[must_use]
    pub fn x(&self) -> &Axis {
        &self.x
    }

    /// The axis across rows.
    #[must_use]
    pub fn y(&self) -> &Axis {
        &self.y
    }

    /// The counts of each y bin, all x bins of one row after the other.
    pub fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks(self.x.bins)
    }

    /// Number of pairs added.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Counts a pair, neither of which may be NaN.
    #[inline]
    pub fn add(&mut self, x: f64, y: f64) {
        self.counts[self.y.index(y) * self.x.bins + self.x.index(x)] += 1;
    }

    /// Adds another histogram of the same axes.
    pub fn merge(&mut self, other: &Self) {
        debug_assert_eq!((self.x, self.y), (other.x, other.y));
        add_counts(&mut self.counts, &other.counts);
    }
}

fn add_counts(into: &mut [u64], from: &[u64]) {
    for (total, count) in into.iter_mut().zip(from) {
        *total += count;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_outside_fall_into_the_end_bins() {
        let mut histogram = Histogram::new(Axis::new(0.0, 4.0, 4));
        [-9.0, 0.0, 0.99, 1.0, 3.9, 4.0, 99.0, f64::INFINITY].iter().for_each(|&v| histogram.add(v));
        assert_eq!(histogram.counts(), [3, 1, 0, 4]);
        assert_eq!(Axis::new(1.0, 1.0, 0).index(5.0), 0);
        assert_eq!(Histogram::new(Axis::new(0.0, 1.0, 3)).quantile(0.5), None);
    }

    #[test]
    fn rows_are_the_y_bins() {
        let mut histogram = Histogram2d::new(Axis::new(0.0, 3.0, 3), Axis::new(0.0, 2.0, 2));
        histogram.add(2.5, 0.5);
        histogram.add(0.5, 1.5);
        let rows: Vec<_> = histogram.rows().collect();
        assert_eq!(rows, [[0, 0, 1], [1, 0, 0]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn quantiles_are_a_bin_off_and_merging_is_adding(
            mut values in prop::collection::vec(0.0..10.0_f64, 2..300),
            q in 0.0..=1.0_f64,
        ) {
            let axis = Axis::new(0.0, 10.0, 100);
            let fill = |values: &[f64]| {
                let mut histogram = Histogram::new(axis);
                values.iter().for_each(|&v| histogram.add(v));
                histogram
            };
            let whole = fill(&values);
            let (left, right) = values.split_at(values.len() / 2);
            let mut merged = fill(left);
            merged.merge(&fill(right));
            prop_assert_eq!(&merged, &whole);
            values.sort_by(f64::total_cmp);
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1];
            prop_assert!((whole.quantile(q).unwrap() - exact).abs() <= 0.1 + 1e-9);
        }
    }
}
