//! Loops: an n-gram that follows itself at least twice.
//!
//! A run of period P with three copies or more has 2P tokens in a row that equal the one P before
//! them. So of places that are at most 2P − N + 1 apart, one and the N − 1 tokens after it are among
//! them. At such places the tokens of many periods before are looked at in wide comparisons; where N
//! tokens come back, the run is followed. N is as large as it can be without many places, since pairs
//! come back everywhere in text. The shortest periods would need every second place: they are looked for
//! at many places side by side.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use stapo_base::simd::{Work, widest};
use stapo_batch::batch::MISSING_ID;

/// The longest n-gram.
pub const LONGEST_PERIOD: usize = 64;
/// Copies that make a loop.
pub const COPIES: usize = 3;

/// Tokens of later copies that no answer ends in, and the fewest of a short response.
const LONG: usize = 16;
const SHORT: usize = 4;

/// Periods that are looked for at every place.
const LONGEST_SHORT: usize = 4;
/// Places that are looked at side by side, and the tokens that are needed for it.
const PLACES: usize = 16;
const WINDOW: usize = 24;
/// Behind the last token: like none, and unlike each other.
const NO_TOKENS: [i32; WINDOW] = {
    let mut none = [0; WINDOW];
    let mut i = 0;
    while i < WINDOW {
        none[i] = -1 - i as i32;
        i += 1;
    }
    none
};

/// 0 where `N` tokens from a place on come back after `PERIOD`.
#[inline(always)]
fn differ<const PERIOD: usize, const N: usize>(window: &[i32; WINDOW], place: usize) -> u32 {
    let mut other = 0;
    for n in 0..N {
        other |= window[place + n] ^ window[place + n + PERIOD];
    }
    other.cast_unsigned()
}

/// The loops of one response; reused.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Where the second copy begins and the last ends; ascending, apart from each other.
    repeated: Vec<(usize, usize)>,
    /// The tokens between [`LONGEST_PERIOD`] that are none and a [`WINDOW`] of others that are none.
    padded: Vec<i32>,
    /// Where the last run of each period ended.
    followed: [usize; LONGEST_PERIOD + 1],
    /// Whether any was followed: few responses have one.
    has_followed: bool,
}

impl Default for Loops {
    fn default() -> Self {
        let padded = vec![MISSING_ID; LONGEST_PERIOD];
        Self { repeated: Vec::new(), padded, followed: [0; LONGEST_PERIOD + 1], has_followed: false }
    }
}

impl Loops {
    /// Finds the loops of a response.
    pub fn find(&mut self, ids: &[i32]) {
        self.repeated.clear();
        if ids.len() < COPIES {
            return;
        }
        self.padded.truncate(LONGEST_PERIOD);
        self.padded.extend_from_slice(ids);
        self.padded.extend(NO_TOKENS);
        if std::mem::take(&mut self.has_followed) {
            self.followed = [0; LONGEST_PERIOD + 1];
        }
        widest(Finding { loops: self, ids });
        self.join();
    }

    /// Looks for the shortest periods. Whether any of them begins at one of some places is seen in one go; windows have
    /// one length, past the end, too: the last few places, one by one, would take longer than all others.
    #[inline(always)]
    fn look_for_short(&mut self, ids: &[i32]) {
        for at in (0..(ids.len() + 1).saturating_sub(COPIES)).step_by(PLACES) {
            let window = self.padded.get(LONGEST_PERIOD + at..).and_then(|rest| rest.first_chunk::<WINDOW>());
            let Some(window) = window else { break };
            let mut other = [0; PLACES];
            for place in 0..PLACES {
                other[place] = differ::<1, 2>(window, place)
                    .min(differ::<2, 3>(window, place))
                    .min(differ::<3, 4>(window, place))
                    .min(differ::<LONGEST_SHORT, 4>(window, place));
            }
            if other.iter().fold(false, |any, other| any | (*other == 0)) {
                self.follow_short(ids, at);
            }
        }
    }

    /// Follows the runs of the shortest periods at some places.
    fn follow_short(&mut self, ids: &[i32], first: usize) {
        for at in first + 1..ids.len().min(first + PLACES + LONGEST_SHORT) {
            for period in 1..=LONGEST_SHORT.min(at) {
                if ids[at] == ids[at - period] && ids[at] != MISSING_ID {
                    self.follow(ids, at, period);
                }
            }
        }
    }

    /// Looks for the `PERIODS` periods up to the longest that `N` tokens come back after; `LEN` is `N` more than that one:
    /// the tokens from its first to the last of the `N`.
    #[inline(always)]
    fn look<const PERIODS: usize, const N: usize, const LEN: usize>(&mut self, ids: &[i32]) {
        let longest = LEN - N;
        let shortest = longest + 1 - PERIODS;
        let stride = (COPIES - 1) * shortest - N + 1;
        // The first token with one a period before it.
        for at in (shortest..(ids.len() + 1).saturating_sub(N)).step_by(stride) {
            let from = LONGEST_PERIOD + at - longest;
            let window = self.padded.get(from..).and_then(|rest| rest.first_chunk::<LEN>());
            let Some(window) = window else { break };
            let mut other = [0; PERIODS];
            for n in 0..N {
                for i in 0..PERIODS {
                    other[i] |= window[n + i] ^ window[longest + n];
                }
            }
            if other.iter().fold(false, |any, other| any | (*other == 0)) && window[longest] != MISSING_ID {
                let periods = other.iter().enumerate().filter(|(_, other)| **other == 0);
                periods.for_each(|(i, _)| self.follow(ids, at, longest - i));
            }
        }
    }

    /// Follows the run that token `at` is in, which equals the one a period before.
    fn follow(&mut self, ids: &[i32], at: usize, period: usize) {
        if at < self.followed[period] {
            return;
        }
        let same = |at: &usize| (ids[*at] == ids[*at - period]) & (ids[*at] != MISSING_ID);
        let before = (period..at).rev().take_while(same).count();
        let after = (at..ids.len()).take_while(same).count();
        self.followed[period] = at + after;
        self.has_followed = true;
        if before + after >= (COPIES - 1) * period {
            self.repeated.push((at - before, at + after));
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

    /// Whether it ends in a loop that it does not leave: later copies of [`LONG`] tokens or more, or of half of a
    /// short response. An answer may end in “000”, a sentence in “...”.
    pub fn is_stuck(&self, length: usize) -> bool {
        let is_long = |copies: usize| copies >= LONG || copies >= SHORT && 2 * copies >= length;
        self.repeated.last().is_some_and(|(first, end)| *end == length && is_long(end - first))
    }
}

struct Finding<'a> {
    loops: &'a mut Loops,
    ids: &'a [i32],
}

impl Work for Finding<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { loops, ids } = self;
        loops.look_for_short(ids);
        // As many periods at once as one register holds: more would be written out and read again.
        loops.look::<8, 4, 16>(ids);
        loops.look::<16, 6, 34>(ids);
        loops.look::<16, 6, 50>(ids);
        loops.look::<16, 6, 66>(ids);
        loops.look::<8, 6, { LONGEST_PERIOD + 6 }>(ids);
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
        assert!(!loops.is_stuck(3));
        loops.find(&[5; 5]);
        assert!(loops.is_stuck(5));
        let answer: Vec<i32> = (0..40).chain([7; 5]).collect();
        loops.find(&answer);
        assert!(loops.at_end(45) && !loops.is_stuck(45));
        let stuck: Vec<i32> = (0..40).chain([7, 8].repeat(9)).collect();
        loops.find(&stuck);
        assert!(loops.is_stuck(58));
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
