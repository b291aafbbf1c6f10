//! Quantiles of entropy from what the pass left: exact from kept entropies, else interpolated in
//! the histogram's bins.

use crate::collect::energy::Sign;
use crate::collect::entropy_histogram::{EntropyHistogram, FINEST_BINS, end_bits, first_bits};
use crate::collect::tally::BatchTally;
use stapo_base::stats::quantile::linear_quantile;
use stapo_result::EntropyQuantiles;

/// A bin's limits in nats; the last one ends at twice its beginning.
fn limits(bin: usize, level: u32) -> (f64, f64) {
    let from = f64::from(f32::from_bits(first_bits(bin, level)));
    let to = f64::from(f32::from_bits(end_bits(bin, level)));
    (from, if to.is_finite() { to } else { 2.0 * from })
}

/// Entropies of many tokens, as counts of bins.
pub struct BinnedEntropies {
    counts: Vec<u64>,
    level: u32,
    total: u64,
}

impl BinnedEntropies {
    /// The entropies of all tokens.
    pub fn of(histogram: &EntropyHistogram) -> Self {
        let counts = histogram.counts(&Sign::ALL);
        let total = counts.iter().sum();
        Self { counts, level: histogram.level(), total }
    }

    /// The quantiles `orders`, ascending, values spread evenly inside their bin.
    pub fn quantiles(&self, orders: &[f64]) -> Option<Vec<f64>> {
        if self.total == 0 {
            return None;
        }
        let mut found = Vec::with_capacity(orders.len());
        let (mut bin, mut below) = (0, 0);
        for order in orders {
            let rank = order * (self.total - 1) as f64;
            while bin + 1 < self.counts.len() && rank >= (below + self.counts[bin]) as f64 {
                below += self.counts[bin];
                bin += 1;
            }
            let (from, to) = limits(bin, self.level);
            let inside = (rank - below as f64 + 0.5) / self.counts[bin].max(1) as f64;
            found.push(from + (to - from) * inside.clamp(0.0, 1.0));
        }
        Some(found)
    }
}

/// The bin that `cut` is in, and the share of it that lies below, values spread evenly; all bins before it lie below,
/// none behind it does.
pub fn split_at(level: u32, cut: f64) -> (usize, f64) {
    let (mut bin, mut behind) = (0, FINEST_BINS >> level);
    while behind - bin > 1 {
        let middle = usize::midpoint(bin, behind);
        if limits(middle, level).0 <= cut {
            bin = middle;
        } else {
            behind = middle;
        }
    }
    let (from, to) = limits(bin, level);
    (bin, ((cut - from) / (to - from)).clamp(0.0, 1.0))
}

/// The quantiles of sorted entropies or, where they are too many, of the histogram.
pub fn entropy_quantiles(tally: &BatchTally, sortable: bool) -> Option<EntropyQuantiles> {
    let orders = EntropyQuantiles::ORDERS;
    let values: Option<Vec<f64>> = if sortable {
        let mut entropies: Vec<f32> = tally.kept.all().copied().collect();
        entropies.sort_unstable_by(f32::total_cmp);
        orders.iter().map(|order| linear_quantile(&entropies, *order)).collect()
    } else {
        BinnedEntropies::of(&tally.histogram).quantiles(&orders)
    };
    Some(EntropyQuantiles::from_values(values?.try_into().ok()?))
}
