//! Sums of differences in bins. They are whole multiples of a unit, so that they add up in any order.

use std::ops::Range;

use super::difference::TokenDifferences;
use crate::simd::{Work, widest};
use crate::stats::fixed_point::{UNITS, small_to_fixed};

/// A token's term is at most this.
const LARGEST: f64 = 4_194_304.0; // 2^22: below 2^62 units
/// Terms below this are below 2^44 units: so many of them fit 64 bits.
const SMALL: f64 = 16.0;
const RECENT: usize = 1 << 18;
/// Where a token is not counted.
pub const NO_BIN: u32 = u32::MAX;
#[allow(clippy::cast_possible_truncation)]
fn to_fixed(value: f64) -> i64 {
    (value.clamp(-LARGEST, LARGEST) * UNITS) as i64
}

/// What tokens add up to in 64 bits: their number and, above 2^32, that of those outside of [0.5, 2];
/// Σ d, Σ |d|, Σ k3. As few as [`RECENT`] tokens cannot overflow it. Aligned, since half of them would lie
/// across two lines of the cache otherwise, which takes twice the time.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Sums([i64; 4]);

impl Sums {
    #[inline(always)]
    fn add(&mut self, term: &Self) {
        // As a whole, so that it is one addition of a wide register.
        self.0 = std::array::from_fn(|at| self.0[at].wrapping_add(term.0[at]));
    }

    #[inline(always)]
    fn less(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].wrapping_sub(other.0[at])))
    }
}

/// What each token of a response adds; reused.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Zeros where a term is not small.
    small: Vec<Sums>,
    /// Tokens whose terms are not.
    large: Vec<(usize, DifferenceBin)>,
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
    fn small(&self, range: Range<usize>) -> Sums {
        let before = |token: usize| token.checked_sub(1).map_or_else(Sums::default, |last| self.sums[last]);
        before(range.end).less(before(range.start))
    }

    fn large(&self, range: &Range<usize>) -> impl Iterator<Item = &DifferenceBin> {
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

/// The differences of some tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DifferenceBin {
    /// Tokens.
    pub tokens: u64,
    /// Tokens with a ratio outside of [0.5, 2].
    pub outside: u64,
    sum: i128,
    absolute: i128,
    k3: i128,
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

/// Many bins. The last tokens of all are summed in 64 bits: a quarter of the work.
#[derive(Clone, Debug)]
pub struct BinTable {
    recent: Vec<Sums>,
    /// Tokens in `recent` that were added one by one, and in stretches; to different bins.
    tokens: [usize; 2],
    bins: Vec<DifferenceBin>,
}

impl BinTable {
    /// `bins` empty ones.
    pub fn new(bins: usize) -> Self {
        Self {
            recent: vec![Sums::default(); bins],
            tokens: [0; 2],
            bins: vec![DifferenceBin::default(); bins],
        }
    }

    /// Makes them at least `bins`.
    pub fn reserve(&mut self, bins: usize) {
        if bins > self.bins.len() {
            self.recent.resize(bins, Sums::default());
            self.bins.resize(bins, DifferenceBin::default());
        }
    }

    /// Adds the first tokens of a response, the i-th to the bins `of(i)`, which differ; those that are none take
    /// nothing.
    pub fn add<const N: usize>(&mut self, terms: &Terms, tokens: usize, of: impl Fn(usize) -> [u32; N]) {
        let mut first = 0;
        while first < tokens {
            if self.tokens[0] == RECENT {
                self.settle();
            }
            let end = tokens.min(first + RECENT - self.tokens[0]);
            widest(Adding { sums: &mut self.recent, terms: &terms.small[..end], first, of: &of });
            self.tokens[0] += end - first;
            first = end;
        }
        for (i, one) in terms.large.iter().filter(|(i, _)| *i < tokens) {
            for bin in of(*i) {
                if let Some(bin) = self.bins.get_mut(bin as usize) {
                    bin.merge(one);
                }
            }
        }
    }

    /// Adds a stretch of a response to one bin, to which no single tokens are added.
    pub fn add_stretch(&mut self, bin: usize, sums: &SumsUpTo<'_>, mut range: Range<usize>) {
        sums.large(&range).for_each(|one| self.bins[bin].merge(one));
        while !range.is_empty() {
            if self.tokens[1] == RECENT {
                self.settle();
            }
            let end = range.end.min(range.start + RECENT - self.tokens[1]);
            self.recent[bin].add(&sums.small(range.start..end));
            self.tokens[1] += end - range.start;
            range.start = end;
        }
    }

    fn settle(&mut self) {
        let recent = self.recent.iter_mut().zip(&mut self.bins).filter(|(recent, _)| recent.0[0] != 0);
        recent.for_each(|(recent, bin)| bin.merge(&std::mem::take(recent).into()));
        self.tokens = [0; 2];
    }

    /// All bins.
    pub fn finish(mut self) -> Vec<DifferenceBin> {
        self.settle();
        self.bins
    }
}

struct Adding<'a, F> {
    sums: &'a mut [Sums],
    /// Those before `first` are added already.
    terms: &'a [Sums],
    first: usize,
    of: &'a F,
}

impl<const N: usize, F: Fn(usize) -> [u32; N]> Work for Adding<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (i, term) in self.terms.iter().enumerate().skip(self.first) {
            for bin in (self.of)(i) {
                if let Some(sums) = self.sums.get_mut(bin as usize) {
                    sums.add(term);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_and_a_few_huge_terms_add_up() {
        const TIMES: usize = 30;
        let mut table = BinTable::new(1);
        table.reserve(3);
        let value: Vec<f64> = (0..20_000)
            .map(|i| match i % 5_000 {
                17 => 1e30,
                n => f64::from(n) / 250.0 - 9.0,
            })
            .collect();
        let k3 = value.iter().map(|d| d.abs() * 2.0).collect();
        let ratio = value.iter().map(|d| if *d > 5.0 { 3.0 } else { 1.0 }).collect();
        let mut terms = Terms::default();
        terms.fill(&TokenDifferences { value: value.clone(), ratio, k3, tokens: None });
        assert!(terms.large.len() > 4 && terms.large.len() < 10_000);
        // More than are recent at once.
        for _ in 0..TIMES {
            table.add(&terms, 20_000, |i| [if i == 3 { NO_BIN } else { 1 }]);
        }
        let sums = terms.up_to();
        let mut all = DifferenceBin::default();
        for _ in 0..TIMES {
            table.add_stretch(2, &sums, 0..3);
            table.add_stretch(2, &sums, 4..20_000);
            all.merge(&sums.of(0..3));
            all.merge(&sums.of(4..20_000));
        }
        let bins = table.finish();
        assert_eq!((bins[0].tokens, bins[1].tokens), (0, 19_999 * TIMES as u64));
        assert_eq!([bins[1], bins[2]], [all; 2]);
        let kept: Vec<f64> = value.iter().enumerate().filter(|(i, _)| *i != 3).map(|(_, d)| *d).collect();
        let times = TIMES as f64;
        assert_eq!(all.outside, (kept.iter().filter(|d| **d > 5.0).count() * TIMES) as u64);
        let sum = |of: fn(f64) -> f64| times * kept.iter().map(|d| of(*d).min(LARGEST)).sum::<f64>();
        let expected = [sum(|d| d), sum(f64::abs), sum(|d| d.abs() * 2.0)];
        let found = [all.sum(), all.absolute(), all.k3()];
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-6 * b.abs(), "{found:?} {expected:?}");
        }
    }
}
