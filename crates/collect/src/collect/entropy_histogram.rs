//! Tokens and energy of one batch by entropy, in bins of equal relative width.
//!
//! The bin of an entropy is the leading bits of its f32, so it costs a shift. Runs with many
//! batches use coarser bins: folding pairs of bins is exact, so the result depends on the number
//! of batches alone.

use super::banded_bins::{BandedBins, Bin, Counted};
use super::energy::{Band, Sign};

/// Bins an octave at level 0, as a power of two.
const MANTISSA_BITS: u32 = 7;
/// All entropies below this share the first bin with it.
const LEAST_EXPONENT: u32 = 14;
const OCTAVES: usize = 18;
/// Bins at level 0: entropies up to 16 nats.
pub const FINEST_BINS: usize = OCTAVES << MANTISSA_BITS;
const SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - MANTISSA_BITS;
const FIRST: u32 = (127 - LEAST_EXPONENT) << MANTISSA_BITS;
const LAST: u32 = FIRST + FINEST_BINS as u32 - 1;
/// Bytes that the histograms of all batches may take.
const MEMORY: usize = 64 << 20;
const BYTES_PER_BIN: usize = 40;
/// Bins cannot be coarser than an octave.
const COARSEST: u32 = MANTISSA_BITS;

/// The bin of `entropy` at level 0.
#[inline(always)]
pub fn finest_bin(entropy: f32) -> u32 {
    // −0 is 0.
    let bits = (entropy + 0.0).to_bits() >> SHIFT;
    let floored = if bits > FIRST { bits } else { FIRST };
    let capped = if floored < LAST { floored } else { LAST };
    capped - FIRST
}

/// The f32 bits at which a bin of `level` begins; the first begins at 0.
pub fn first_bits(bin: usize, level: u32) -> u32 {
    if bin == 0 { 0 } else { (FIRST + ((bin as u32) << level)) << SHIFT }
}

/// The f32 bits behind a bin of `level`.
pub fn end_bits(bin: usize, level: u32) -> u32 {
    if bin + 1 >= FINEST_BINS >> level { f32::INFINITY.to_bits() } else { first_bits(bin + 1, level) }
}

/// The level at which the histograms of `batches` batches fit the memory.
pub fn level_for(batches: usize) -> u32 {
    let fits = |level: &u32| batches.saturating_mul((FINEST_BINS >> level) * BYTES_PER_BIN) <= MEMORY;
    (0..COARSEST).find(fits).unwrap_or(COARSEST)
}

/// Largest relative width of a bin at `level`.
pub fn relative_width(level: u32) -> f64 {
    f64::from(1_u32 << level) / f64::from(1_u32 << MANTISSA_BITS)
}

/// Tokens and energy of one batch by entropy and sign of the advantage.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EntropyHistogram {
    level: u32,
    bins: [BandedBins; 2],
    zero: Vec<u64>,
}

impl EntropyHistogram {
    /// An empty histogram of a level.
    pub fn new(level: u32) -> Self {
        let bins = || BandedBins::new(FINEST_BINS >> level);
        Self { level, bins: [bins(), bins()], zero: Vec::new() }
    }

    /// How often pairs of bins were folded.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The bins of a sign other than zero, to add tokens of a block to.
    #[inline]
    pub fn signed(&mut self, sign: Sign, band: Option<Band>) -> &mut [Bin] {
        self.bins[usize::from(sign == Sign::Negative)].of_band(band)
    }

    /// The counts of A = 0, to add to.
    #[inline]
    pub fn zero(&mut self) -> &mut [u64] {
        if self.zero.is_empty() {
            self.zero.resize(FINEST_BINS >> self.level, 0);
        }
        &mut self.zero
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.bins.iter_mut().for_each(BandedBins::settle);
    }

    /// Whether it has the bins of its level.
    pub fn fits(&self) -> bool {
        let bins = FINEST_BINS >> self.level.min(COARSEST);
        self.level <= COARSEST
            && self.bins.iter().all(|table| table.fits(bins))
            && (self.zero.is_empty() || self.zero.len() == bins)
    }

    /// Folds pairs of bins until `level`.
    pub fn coarsen(&mut self, level: u32) {
        while self.level < level {
            self.level += 1;
            let half = FINEST_BINS >> self.level;
            self.bins.iter_mut().for_each(BandedBins::fold_pairs);
            if !self.zero.is_empty() {
                self.zero = (0..half).map(|i| self.zero[2 * i] + self.zero[2 * i + 1]).collect();
            }
        }
    }

    /// Adds another batch part; the coarser level wins.
    pub fn merge(&mut self, mut other: Self) {
        self.coarsen(other.level);
        other.coarsen(self.level);
        for (into, from) in self.bins.iter_mut().zip(other.bins) {
            if into.is_empty() {
                *into = from;
            } else {
                into.merge(&from);
            }
        }
        if self.zero.is_empty() {
            self.zero = other.zero;
        } else {
            self.zero.iter_mut().zip(&other.zero).for_each(|(a, b)| *a += b);
        }
    }

    /// The bins that hold tokens of one sign, and what they hold.
    pub fn occupied(&self, sign: Sign) -> impl Iterator<Item = (usize, Counted)> {
        let all = match sign {
            Sign::Positive => self.bins[0].all(),
            Sign::Negative => self.bins[1].all(),
            Sign::Zero => self.zero.iter().map(|count| Counted { count: *count, energy: 0.0 }).collect(),
        };
        all.into_iter().enumerate().filter(|(_, counted)| counted.count > 0)
    }

    /// Tokens of some signs in every bin.
    pub fn counts(&self, signs: &[Sign]) -> Vec<u64> {
        let mut all = vec![0; FINEST_BINS >> self.level];
        for sign in signs {
            match sign {
                Sign::Positive => self.bins[0].add_counts(&mut all),
                Sign::Negative => self.bins[1].add_counts(&mut all),
                Sign::Zero => all.iter_mut().zip(&self.zero).for_each(|(all, count)| *all += count),
            }
        }
        all
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_where_their_bits_say() {
        for level in 0..=COARSEST {
            for entropy in [0.0_f32, 1e-30, 3e-5, 6.2e-5, 0.01, 0.5, 0.7, 1.0, 3.3, 11.9, 15.99, 40.0] {
                let bin = (finest_bin(entropy) >> level) as usize;
                let bits = entropy.to_bits();
                assert!(first_bits(bin, level) <= bits && bits < end_bits(bin, level), "{entropy} {level}");
            }
        }
    }

    #[test]
    fn folding_commutes_with_merging() {
        let mut parts = [EntropyHistogram::new(0), EntropyHistogram::new(2)];
        for (i, part) in parts.iter_mut().enumerate() {
            for k in 0..400_u32 {
                let bin = (finest_bin(0.01 * (k + i as u32) as f32) >> part.level()) as usize;
                part.signed(Sign::Positive, Band::of(f64::from(k)))[bin].add(u64::from(k) << 20);
                part.zero()[bin] += 1;
            }
        }
        let [a, b] = parts;
        let (mut left, mut right) = (a.clone(), b.clone());
        left.merge(b);
        right.merge(a);
        left.coarsen(4);
        right.coarsen(4);
        assert_eq!(left.bins, right.bins);
        assert_eq!(left.counts(&[Sign::Zero]), right.counts(&[Sign::Zero]));
        assert_eq!(left.counts(&[Sign::Positive]).iter().sum::<u64>(), 800);
    }

    #[test]
    fn many_batches_use_coarser_bins() {
        assert_eq!(level_for(700), 0);
        assert!(level_for(10_000) >= 3);
        assert_eq!(level_for(usize::MAX), COARSEST);
    }
}
