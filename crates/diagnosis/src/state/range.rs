//! The range of a series: what its level is measured in.

/// Few values, as of a reward of right and wrong, are exact; more have quantiles.
const FEW: usize = 32;

/// Values in ascending order with how often each came.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    values: Vec<(f64, u64)>,
    count: u64,
}

/// Floor, ceiling, and where values are drawn in to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
    pub drawn_in: Option<(f64, f64)>,
}

impl Range {
    pub fn draw_in(&self, value: f64) -> f64 {
        self.drawn_in.map_or(value, |(low, high)| value.clamp(low, high))
    }

    pub fn is_empty(&self) -> bool {
        self.high - self.low < 1e-9
    }
}

impl Distribution {
    /// Of values in any order.
    pub fn new(mut values: Vec<(f64, u64)>) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let count = values.iter().map(|(_, count)| count).sum();
        Self { values, count }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Values, ascending, and how often each came.
    pub fn iter(&self) -> impl Iterator<Item = (f64, u64)> {
        self.values.iter().copied()
    }

    /// Least and greatest value.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((self.values.first()?.0, self.values.last()?.0))
    }

    /// Variance of the values, not of a sample of them.
    pub fn variance(&self) -> f64 {
        let n = self.count.max(1) as f64;
        let mean = self.values.iter().map(|(value, count)| value * *count as f64).sum::<f64>() / n;
        self.values.iter().map(|(value, count)| (value - mean).powi(2) * *count as f64).sum::<f64>() / n
    }

    /// Least and greatest value; with more than 32 and a spread middle the 5th and 95th percentile, and one range
    /// beyond these to draw values in to: a few outliers are not what a reward can reach.
    pub fn range(&self, robust: bool) -> Option<Range> {
        let (low, high) = self.ends()?;
        let mut rounded: Vec<f64> = self.values.iter().map(|(value, _)| round(*value, 1e6)).collect();
        rounded.dedup();
        if robust && rounded.len() > FEW {
            let [low, lower, upper, high] = [0.05, 0.25, 0.75, 0.95].map(|q| self.quantile(q));
            if upper > lower {
                return Some(Range { low, high, drawn_in: Some((low - (high - low), high + (high - low))) });
            }
        }
        Some(Range { low: round(low, 1e6), high: round(high, 1e6), drawn_in: None })
    }

    /// Range of means of steps: they do not show how far the reward spreads, but most rewards lie between 0 and 1.
    pub fn range_of_means(&self) -> Option<Range> {
        self.ends().map(|(low, high)| Range { low: low.min(0.0), high: high.max(1.0), drawn_in: None })
    }

    /// With linear interpolation.
    fn quantile(&self, q: f64) -> f64 {
        let mut left = self.count.saturating_sub(1) as f64 * q;
        let mut values = self.values.iter().peekable();
        while let Some((value, count)) = values.next() {
            let (count, fraction) = (*count as f64, left.fract());
            if left < count {
                let above =
                    if left.floor() + 1.0 < count { *value } else { values.peek().map_or(*value, |n| n.0) };
                return value + (above - value) * fraction;
            }
            left -= count;
        }
        f64::NAN
    }
}

/// Rounds to whole parts of 1 / `scale`, halves to even.
pub fn round(value: f64, scale: f64) -> f64 {
    (value * scale).round_ties_even() / scale
}
