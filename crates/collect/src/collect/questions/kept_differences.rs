//! Differences for quantiles: one by one while the run is small, in bins of 4 % when it is not.

use stapo_base::simd::{LANES, Work, widest};
use stapo_base::stats::quantile::linear_quantile;

/// Bins of one octave of |d|.
const PER_OCTAVE: u32 = 16;
/// |d| below 2^−20 is one bin on either side of 0, above 2^8 another.
const LOWEST_EXPONENT: i32 = -20;
const OCTAVES: u32 = 28;
const SIDE: usize = (OCTAVES * PER_OCTAVE) as usize;
const BINS: usize = 2 * SIDE;
const MANTISSA_SHIFT: u32 = 23 - PER_OCTAVE.trailing_zeros();
const BASE: u32 = ((127 + LOWEST_EXPONENT) as u32) << PER_OCTAVE.trailing_zeros();
/// Bins are at most 2^this as wide.
const COARSEST: u32 = 5;
/// Relative width of a bin: the error of a quantile where differences are not kept.
const BIN_WIDTH: f64 = 1.0 / PER_OCTAVE as f64;

/// The differences of many tokens.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct KeptDifferences {
    kept: Vec<f32>,
    bins: Vec<u64>,
    /// 2^level bins are one: many steps share the memory.
    level: u32,
}

impl KeptDifferences {
    /// Adds differences, one by one where `keeps`.
    #[allow(clippy::cast_possible_truncation)]
    pub fn add(&mut self, differences: &[f64], keeps: bool) {
        if keeps {
            self.kept.extend(differences.iter().map(|d| *d as f32));
        } else {
            self.settle();
            widest(Counting { bins: &mut self.bins, level: self.level, differences });
        }
    }

    /// Puts what was kept into bins: the run is too large to keep it.
    pub fn settle(&mut self) {
        if self.bins.is_empty() {
            self.bins = vec![0; BINS >> self.level];
        }
        for d in std::mem::take(&mut self.kept) {
            self.bins[bin(d) >> self.level] += 1;
        }
    }

    /// Makes bins 2^level times as wide, if they are finer.
    pub fn coarsen(&mut self, level: u32) {
        let level = level.min(COARSEST);
        if level > self.level {
            let step = 1 << (level - self.level);
            self.bins = self.bins.chunks(step).map(|bins| bins.iter().sum()).collect();
            self.level = level;
        }
    }

    /// Puts what may come in any order into one.
    pub fn sort(&mut self) {
        self.kept.sort_unstable_by(f32::total_cmp);
        if self.bins.iter().all(|count| *count == 0) {
            self.bins = Vec::new();
        }
    }

    /// Whether it has the bins of its level.
    pub fn fits(&self) -> bool {
        self.level <= COARSEST && (self.bins.is_empty() || self.bins.len() == BINS >> self.level)
    }

    /// Adds another part. Either both are kept or both are in bins.
    pub fn merge(&mut self, other: &Self) {
        self.kept.extend_from_slice(&other.kept);
        self.coarsen(other.level);
        let mut other = other.clone();
        other.coarsen(self.level);
        if self.bins.is_empty() {
            self.bins = other.bins;
        } else {
            self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| *a += b);
        }
    }

    /// Quantiles of ascending `orders`; `None` of nothing.
    pub fn quantiles(&self, orders: &[f64]) -> Option<Vec<f64>> {
        if !self.bins.is_empty() {
            return self.binned_quantiles(orders);
        }
        let mut sorted = self.kept.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        orders.iter().map(|q| linear_quantile(&sorted, *q)).collect()
    }

    fn binned_quantiles(&self, orders: &[f64]) -> Option<Vec<f64>> {
        let total: u64 = self.bins.iter().sum();
        let at = |order: &f64| {
            let wanted = order * total as f64;
            let mut below = 0.0;
            for (bin, count) in self.bins.iter().enumerate().filter(|(_, count)| **count > 0) {
                let count = *count as f64;
                if below + count >= wanted {
                    let ((low, _), (_, high)) =
                        (edges(bin << self.level), edges(((bin + 1) << self.level) - 1));
                    return low + (high - low) * ((wanted - below) / count).clamp(0.0, 1.0);
                }
                below += count;
            }
            f64::NAN
        };
        (total > 0).then(|| orders.iter().map(at).collect())
    }

    /// The relative error of quantiles; 0 where they are exact.
    pub fn error(&self) -> f64 {
        if self.bins.is_empty() { 0.0 } else { BIN_WIDTH * f64::from(1_u32 << self.level) }
    }
}

struct Counting<'a> {
    bins: &'a mut [u64],
    level: u32,
    differences: &'a [f64],
}

impl Work for Counting<'_> {
    type Output = ();

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn call(self) {
        let (chunks, rest) = self.differences.as_chunks::<LANES>();
        for chunk in chunks {
            // Bins are found side by side, and counted one by one.
            let bins: [usize; LANES] = std::array::from_fn(|i| bin(chunk[i] as f32) >> self.level);
            bins.into_iter().for_each(|bin| self.bins[bin] += 1);
        }
        rest.iter().for_each(|d| self.bins[bin(*d as f32) >> self.level] += 1);
    }
}

/// The bin of a difference, ascending with it.
#[inline(always)]
fn bin(d: f32) -> usize {
    let size = (d.abs().to_bits() >> MANTISSA_SHIFT).saturating_sub(BASE).min(SIDE as u32 - 1) as usize;
    if d < 0.0 { SIDE - 1 - size } else { SIDE + size }
}

/// The ends of a bin.
fn edges(bin: usize) -> (f64, f64) {
    let size = |index: usize| match index {
        0 => 0.0,
        _ => f64::from(f32::from_bits((BASE + index as u32) << MANTISSA_SHIFT)),
    };
    if bin >= SIDE {
        (size(bin - SIDE), size(bin - SIDE + 1))
    } else {
        (-size(SIDE - bin), -size(SIDE - 1 - bin))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As many tokens in one bin as no 32 bits count.
    #[test]
    fn bins_hold_as_many_tokens_as_there_are() {
        let mut many = KeptDifferences::default();
        many.add(&[0.0], false);
        for _ in 0..33 {
            let same = many.clone();
            many.merge(&same);
        }
        many.coarsen(2);
        assert_eq!(many.bins.iter().sum::<u64>(), 1 << 33);
        let mut few = KeptDifferences::default();
        few.add(&[1.0; 3], false);
        many.merge(&few);
        assert!(many.quantiles(&[0.5]).unwrap()[0] < 0.1);
    }

    proptest! {
        #[test]
        fn bins_hold_their_values(size in -25.0..12.0_f32, negative in any::<bool>()) {
            let d = size.exp2() * if negative { -1.0 } else { 1.0 };
            let (low, high) = edges(bin(d));
            let inside = (low..=high).contains(&f64::from(d));
            prop_assert!(inside || size >= 8.0, "{d} {low} {high}");
        }

        #[test]
        fn bins_are_close_to_the_values(values in prop::collection::vec(-6.0..6.0_f64, 50..400)) {
            let (mut kept, mut binned) = (KeptDifferences::default(), KeptDifferences::default());
            kept.add(&values, true);
            binned.add(&values, false);
            let orders = [0.1, 0.25, 0.5, 0.75, 0.9];
            let exact = kept.quantiles(&orders).unwrap();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let spread = sorted.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
            for (a, b) in exact.iter().zip(binned.quantiles(&orders).unwrap()) {
                prop_assert!((a - b).abs() <= 2.0 * BIN_WIDTH * a.abs().max(b.abs()) + 2.0 * spread);
            }
            kept.settle();
            prop_assert_eq!(kept.bins, binned.bins);
        }
    }
}
