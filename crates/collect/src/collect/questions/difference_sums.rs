//! What differences of tokens add up to: whole multiples of a unit, so that they add up in any order.

use stapo_base::stats::fixed_point::UNITS;

/// So many tokens cannot overflow 64 bits, where no term is above 2^44 units.
pub const RECENT: usize = 1 << 18;

/// What tokens add up to in 64 bits: their number and, above 2^32, that of those outside of [0.5, 2];
/// Σ d, Σ |d|, Σ k3. As few as [`RECENT`] tokens cannot overflow it. Aligned, so that none
/// lies across two lines of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Sums(pub [i64; 4]);

impl Sums {
    /// Adds others. They may wrap around.
    #[inline(always)]
    pub fn add(&mut self, term: &Self) {
        // As a whole, so that it is one addition of a wide register.
        self.0 = std::array::from_fn(|at| self.0[at].wrapping_add(term.0[at]));
    }

    /// What is left without others, right where it fits even if these do not.
    #[inline(always)]
    pub fn less(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].wrapping_sub(other.0[at])))
    }
}

/// The differences of some tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DifferenceBin {
    /// Tokens.
    pub tokens: u64,
    /// Tokens with a ratio outside of [0.5, 2].
    pub outside: u64,
    /// Σ d, in units.
    pub sum: i128,
    /// Σ |d|, in units.
    pub absolute: i128,
    /// Σ k3, in units.
    pub k3: i128,
}

impl DifferenceBin {
    /// Adds other tokens.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.outside += other.outside;
        self.sum += other.sum;
        self.absolute += other.absolute;
        self.k3 += other.k3;
    }

    /// Σ d.
    pub fn sum(&self) -> f64 {
        self.sum as f64 / UNITS
    }

    /// Σ |d|.
    pub fn absolute(&self) -> f64 {
        self.absolute as f64 / UNITS
    }

    /// Σ (e^d − 1 − d).
    pub fn k3(&self) -> f64 {
        self.k3 as f64 / UNITS
    }
}

impl From<Sums> for DifferenceBin {
    fn from(Sums([counts, sum, absolute, k3]): Sums) -> Self {
        let (tokens, outside) = (counts & 0xffff_ffff, counts >> 32);
        Self {
            tokens: tokens.cast_unsigned(),
            outside: outside.cast_unsigned(),
            sum: sum.into(),
            absolute: absolute.into(),
            k3: k3.into(),
        }
    }
}
