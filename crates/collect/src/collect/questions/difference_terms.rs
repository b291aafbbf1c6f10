//! What each token of a response adds to sums of differences, and what they add up to.

use std::ops::Range;

use super::difference::TokenDifferences;
use super::difference_sums::{DifferenceBin, RECENT, Sums};
use stapo_base::simd::{Work, widest};
use stapo_base::stats::fixed_point::{UNITS, small_to_fixed};

/// A token's term is at most this.
pub const LARGEST: f64 = 4_194_304.0; // 2^22: below 2^62 units
/// Terms below this are below 2^44 units: [`RECENT`] of them fit 64 bits.
const SMALL: f64 = 16.0;

#[allow(clippy::cast_possible_truncation)]
fn to_fixed(value: f64) -> i64 {
    (value.clamp(-LARGEST, LARGEST) * UNITS) as i64
}

/// What each token of a response adds; reused.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Zeros where a term is not small.
    pub small: Vec<Sums>,
    /// Tokens whose terms are not.
    pub large: Vec<(usize, DifferenceBin)>,
}

impl Terms {
    /// Of the differences of a response.
    pub fn fill(&mut self, differences: &TokenDifferences) {
        self.large.clear();
        self.small.resize(differences.value.len(), Sums::default());
        // In a pass of its own, which most responses need not enter.
        if widest(Filling { terms: &mut self.small, differences }) {
            let pairs = differences.value.iter().zip(&differences.k3).zip(&differences.ratio);
            for (i, ((d, k3), r)) in pairs.enumerate().filter(|(_, ((d, k3), _))| is_large(**d, **k3)) {
                let sum = i128::from(to_fixed(*d));
                let outside = outside(*r).cast_unsigned();
                let k3 = to_fixed(*k3).into();
                let one = DifferenceBin { tokens: 1, outside, sum, absolute: sum.abs(), k3 };
                self.small[i] = Sums::default();
                self.large.push((i, one));
            }
        }
    }

    /// Puts sums up to each token in the place of its terms.
    pub fn up_to(&mut self) -> SumsUpTo<'_> {
        widest(AddingUp(&mut self.small));
        SumsUpTo { sums: &self.small, large: &self.large }
    }
}

struct AddingUp<'a>(&'a mut [Sums]);

impl Work for AddingUp<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut sums = Sums::default();
        for term in self.0 {
            sums.add(term);
            *term = sums;
        }
    }
}

/// What the tokens of a response add up to, up to each of them. They may wrap around: differences of these are right
/// where they fit.
pub struct SumsUpTo<'a> {
    sums: &'a [Sums],
    large: &'a [(usize, DifferenceBin)],
}

impl SumsUpTo<'_> {
    /// Those of a stretch of at most [`RECENT`] tokens.
    #[inline]
    pub fn small(&self, range: Range<usize>) -> Sums {
        let before = |token: usize| token.checked_sub(1).map_or_else(Sums::default, |last| self.sums[last]);
        before(range.end).less(before(range.start))
    }

    /// What tokens of a stretch add whose terms are not small.
    pub fn large(&self, range: &Range<usize>) -> impl Iterator<Item = &DifferenceBin> {
        self.large.iter().filter(|(i, _)| range.contains(i)).map(|(_, one)| one)
    }

    /// What the tokens of a stretch add up to.
    pub fn of(&self, range: Range<usize>) -> DifferenceBin {
        let mut all = DifferenceBin::default();
        for first in range.clone().step_by(RECENT) {
            all.merge(&self.small(first..range.end.min(first + RECENT)).into());
        }
        self.large(&range).for_each(|one| all.merge(one));
        all
    }
}

/// Whether the ratio is outside of [0.5, 2].
#[inline(always)]
fn outside(ratio: f64) -> i64 {
    i64::from(!(0.5..=2.0).contains(&ratio))
}

#[inline(always)]
fn is_large(d: f64, k3: f64) -> bool {
    !((d.abs() < SMALL) & (k3 < SMALL))
}

/// Writes the terms of all tokens as if they were small; whether any is not.
struct Filling<'a> {
    terms: &'a mut [Sums],
    differences: &'a TokenDifferences,
}

impl Work for Filling<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let TokenDifferences { value, k3, ratio, .. } = self.differences;
        let mut any_large = false;
        for (((term, d), k3), r) in self.terms.iter_mut().zip(value).zip(k3).zip(ratio) {
            let fixed = small_to_fixed(*d);
            *term = Sums([1 + (outside(*r) << 32), fixed, fixed.wrapping_abs(), small_to_fixed(*k3)]);
            any_large |= is_large(*d, *k3);
        }
        any_large
    }
}
