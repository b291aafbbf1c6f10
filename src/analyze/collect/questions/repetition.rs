//! Loops: an n-gram that follows itself at least twice.
//!
//! A run of period P with three copies or more has 2P tokens in a row that equal the one P before
//! them, so a multiple of 2P is among them. Only those are looked at: about n/2P comparisons for each
//! period, n·H₆₄/2 ≈ 2.4 n in all, and a run that is found is followed once.

use crate::ingest::MISSING_ID;

/// The longest n-gram.
pub const LONGEST_PERIOD: usize = 64;
/// Copies that make a loop.
pub const COPIES: usize = 3;

/// The loops of one response; reused.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Where the second copy begins and the last ends; ascending, apart from each other.
    repeated: Vec<(usize, usize)>,
}

impl Loops {
    /// Finds the loops of a response.
    pub fn find(&mut self, ids: &[i32]) {
        self.repeated.clear();
        for period in 1..=LONGEST_PERIOD.min(ids.len() / COPIES) {
            self.find_period(ids, period);
        }
        self.join();
    }

    fn find_period(&mut self, ids: &[i32], period: usize) {
        // Each token beside the one a period before it: `at` is a place among the earlier ones.
        let (later, earlier) = (&ids[period..], &ids[..ids.len() - period]);
        let same = |at: usize| (later[at] == earlier[at]) & (later[at] != MISSING_ID);
        let stride = (COPIES - 1) * period;
        let mut at = period;
        while at < earlier.len() {
            if !same(at) {
                at += stride;
                continue;
            }
            let before = (0..at).rev().take_while(|at| same(*at)).count();
            let after = (at..earlier.len()).take_while(|at| same(*at)).count();
            if before + after >= stride {
                self.repeated.push((at - before + period, at + after + period));
            }
            at += after.next_multiple_of(stride);
        }
    }

    /// Loops of several periods may overlap.
    fn join(&mut self) {
        self.repeated.sort_unstable();
        let mut kept = 0;
        for i in 0..self.repeated.len() {
            let (first, end) = self.repeated[i];
            if kept > 0 && first <= self.repeated[kept - 1].1 {
                self.repeated[kept - 1].1 = self.repeated[kept - 1].1.max(end);
            } else {
                self.repeated[kept] = (first, end);
                kept += 1;
            }
        }
        self.repeated.truncate(kept);
    }

    /// Tokens in second or later copies that `counts` takes.
    pub fn tokens(&self, counts: impl Fn(usize) -> bool) -> u64 {
        self.repeated.iter().map(|(first, end)| (*first..*end).filter(|t| counts(*t)).count() as u64).sum()
    }

    /// Whether the response ends in a loop.
    pub fn at_end(&self, length: usize) -> bool {
        self.repeated.last().is_some_and(|(_, end)| *end == length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition, for every period and every place.
    fn naive(ids: &[i32]) -> Vec<bool> {
        let mut repeated = vec![false; ids.len()];
        for period in 1..=LONGEST_PERIOD {
            for start in 0..ids.len() {
                let copies = (start + period..ids.len()).take_while(|i| ids[*i] == ids[*i - period]).count();
                if copies >= (COPIES - 1) * period {
                    repeated[start + period..start + period + copies].fill(true);
                }
            }
        }
        repeated
    }

    #[test]
    fn short_and_long_loops_are_found() {
        let mut loops = Loops::default();
        let pattern: Vec<i32> = (0..64).collect();
        let ids = [&[7, 8][..], &pattern.repeat(3), &[9]].concat();
        loops.find(&ids);
        assert_eq!(loops.tokens(|_| true), 128);
        assert!(!loops.at_end(ids.len()));
        loops.find(&[1, 1, 1]);
        assert_eq!((loops.tokens(|_| true), loops.at_end(3)), (2, true));
        loops.find(&[1, 2, 1, 2]);
        assert_eq!(loops.tokens(|_| true), 0);
        loops.find(&[]);
        assert!(!loops.at_end(0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]
        #[test]
        fn as_by_the_definition(
            noise in prop::collection::vec(0..3_i32, 0..120),
            pattern in prop::collection::vec(0..4_i32, 1..70),
            copies in 1..5_usize,
            tail in prop::collection::vec(0..3_i32, 0..40),
        ) {
            let ids = [noise, pattern.repeat(copies), tail].concat();
            let expected = naive(&ids);
            let mut loops = Loops::default();
            loops.find(&ids);
            let mut found = vec![false; ids.len()];
            for (first, end) in &loops.repeated {
                found[*first..*end].fill(true);
            }
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(loops.at_end(ids.len()), expected.last().copied().unwrap_or(false));
        }
    }
}
