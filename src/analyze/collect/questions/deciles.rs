//! Slices by decile of the response. Every response has them all, so they are counted in one place
//! each, without looking a key up.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use super::slice_keys::{DECILES, REPLICATES, number_key};
use super::slices::{SliceTable, SliceTally, SlicedResponse};
use crate::stats::exact_sum::ExactSum;

/// What the tokens of each decile add up to.
#[derive(Clone, Debug)]
pub struct Deciles {
    /// Everything but the random groups, which are added at the end.
    tallies: [SliceTally; DECILES],
    /// Tokens and ‖g‖² by random group, then by decile: those of a response lie side by side.
    replicates: Vec<[(u64, ExactSum); DECILES]>,
}

impl Default for Deciles {
    fn default() -> Self {
        Self {
            tallies: std::array::from_fn(|_| SliceTally::default()),
            replicates: vec![[(0, ExactSum::new()); DECILES]; REPLICATES],
        }
    }
}

impl Deciles {
    /// Adds a response.
    pub fn add(&mut self, response: &SlicedResponse<'_>) {
        let asked = response.asked;
        let ends = Ends::of(asked.trained.len(), asked.source.range(asked.index).len(), asked.picks);
        let entropy = ends.sums(asked.trained.entropy);
        let probability = ends.sums(&response.facts.probability);
        let energy = ends.sums(&response.facts.energy);
        let replicate = &mut self.replicates[response.replicate];
        for (decile, tally) in self.tallies.iter_mut().enumerate() {
            let range = ends.0[decile]..ends.0[decile + 1];
            let tokens = range.len() as u64;
            tally.tokens += tokens;
            tally.clipped += response.clipped(range.clone());
            let (k3, compared) = response.k3.sum(range);
            if compared > 0 {
                tally.compared += compared;
                tally.k3.add(k3);
            }
            tally.entropy.add(entropy[decile]);
            tally.probability.add(probability[decile]);
            replicate[decile].0 += tokens;
            replicate[decile].1.add(energy[decile]);
        }
    }

    /// Adds them to the table of the dimension.
    pub fn pour(mut self, table: &mut SliceTable) {
        for (decile, tally) in self.tallies.iter_mut().enumerate().filter(|(_, tally)| tally.tokens > 0) {
            tally.replicates = self.replicates.iter().map(|deciles| deciles[decile]).collect();
            table.at(number_key(decile as f64)).merge(tally);
        }
    }
}

/// Where the deciles of a response begin among its `n` trained tokens, and where the last ends.
struct Ends([usize; DECILES + 1]);

impl Ends {
    fn of(n: usize, length: usize, picks: Option<&[u32]>) -> Self {
        let mut ends = [0; DECILES + 1];
        for decile in 0..DECILES {
            // The first token of the next one: token · 10 / length is above this decile.
            let next = ((decile + 1) * length).div_ceil(DECILES);
            let first = ends[decile];
            ends[decile + 1] = match picks {
                None => next.min(n),
                Some(picks) => first + picks[first..].partition_point(|token| (*token as usize) < next),
            };
        }
        Self(ends)
    }

    /// The sum over each decile: of all of them side by side, since each waits for its own last
    /// addition and a loop over the few tokens of one ends at another length nearly every time.
    #[inline(always)]
    fn sums<T: Copy + Into<f64>>(&self, values: &[T]) -> [f64; DECILES] {
        let ends = &self.0;
        let lengths: [usize; DECILES] = std::array::from_fn(|decile| ends[decile + 1] - ends[decile]);
        let (shortest, longest) = lengths.iter().fold((usize::MAX, 0), |(a, b), n| (a.min(*n), b.max(*n)));
        let parts: [&[T]; DECILES] =
            std::array::from_fn(|decile| &values[ends[decile]..ends[decile] + shortest]);
        let mut sums = [0.0; DECILES];
        for t in 0..shortest {
            for decile in 0..DECILES {
                sums[decile] += parts[decile][t].into();
            }
        }
        if longest == shortest + 1 {
            // One more token or none: taken either way, counted where it is theirs.
            for decile in 0..DECILES {
                let next = values[(ends[decile] + shortest).min(values.len() - 1)].into();
                sums[decile] += if lengths[decile] > shortest { next } else { 0.0 };
            }
        } else if longest > shortest {
            for decile in 0..DECILES {
                let rest = &values[ends[decile] + shortest..ends[decile + 1]];
                sums[decile] = rest.iter().fold(sums[decile], |sum, value| sum + (*value).into());
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn sums_are_those_of_each_token(
            trained in prop::collection::vec(any::<bool>(), 0..80),
            all in any::<bool>(),
        ) {
            let picks: Vec<u32> = (0..trained.len() as u32).filter(|t| all || trained[*t as usize]).collect();
            let values: Vec<f64> = (0..picks.len()).map(|i| 1.0 + (i * i) as f64).collect();
            let some = (!all).then_some(picks.as_slice());
            let sums = Ends::of(values.len(), trained.len(), some).sums(&values);
            let mut expected = [0.0; DECILES];
            for (token, value) in picks.iter().zip(&values) {
                expected[*token as usize * DECILES / trained.len()] += value;
            }
            prop_assert_eq!(sums, expected);
        }
    }
}
