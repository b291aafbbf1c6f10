//! Sums of differences in bins.

use super::difference_sums::{DifferenceBin, RECENT, Sums};
use super::difference_terms::Terms;
use stapo_base::simd::{Work, widest};

/// Where a token is not counted.
pub const NO_BIN: u32 = u32::MAX;
/// Many bins. The last tokens of all are summed in 64 bits: a quarter of the work.
#[derive(Clone, Debug, Default)]
pub struct BinTable {
    recent: Vec<Sums>,
    /// Tokens in `recent`.
    tokens: usize,
    bins: Vec<DifferenceBin>,
}

impl BinTable {
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
            if self.tokens == RECENT {
                self.settle();
            }
            let end = tokens.min(first + RECENT - self.tokens);
            widest(Adding { sums: &mut self.recent, terms: &terms.small[..end], first, of: &of });
            self.tokens += end - first;
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

    fn settle(&mut self) {
        let recent = self.recent.iter_mut().zip(&mut self.bins).filter(|(recent, _)| recent.0[0] != 0);
        recent.for_each(|(recent, bin)| bin.merge(&std::mem::take(recent).into()));
        self.tokens = 0;
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
    use super::super::difference::TokenDifferences;
    use super::super::difference_terms::LARGEST;
    use super::*;

    #[test]
    fn many_small_and_a_few_huge_terms_add_up() {
        const TIMES: usize = 30;
        let mut table = BinTable::default();
        table.reserve(1);
        table.reserve(2);
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
            all.merge(&sums.of(0..3));
            all.merge(&sums.of(4..20_000));
        }
        let bins = table.finish();
        assert_eq!((bins[0].tokens, bins[1].tokens), (0, 19_999 * TIMES as u64));
        assert_eq!(bins[1], all);
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
