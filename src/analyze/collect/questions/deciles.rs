//! Slices by decile of the response. Every response has them all, so they are counted in one place
//! each, without looking a key up.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use super::slice_keys::{DECILES, REPLICATES, number_key};
use super::slices::{SliceTable, SliceTally, SlicedResponse};
use crate::simd::{LANES, Work, sum_of_lanes, widest};
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
        let [entropy, probability, energy] = widest(Sums { ends: &ends, response });
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

    /// The sum over each decile.
    #[inline(always)]
    fn sums<T: Copy + Into<f64>>(&self, values: &[T]) -> [f64; DECILES] {
        let mut sums = [0.0; DECILES];
        for decile in 0..DECILES {
            sums[decile] = sum_of(values, self.0[decile], self.0[decile + 1]);
        }
        sums
    }
}

/// The sum of the values from `first` to `end`, in lanes. What is left of them is taken with what follows and
/// counted where it is theirs: a loop over the few tokens of a decile ends at another length nearly every time.
#[inline(always)]
fn sum_of<T: Copy + Into<f64>>(values: &[T], first: usize, end: usize) -> f64 {
    let (whole, rest) = values[first..end].as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in whole {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane].into();
        }
    }
    match values[end - rest.len()..].first_chunk::<LANES>() {
        Some(chunk) => {
            for lane in 0..LANES {
                let value = chunk[lane].into();
                lanes[lane] += if lane < rest.len() { value } else { 0.0 };
            }
        }
        None => lanes.iter_mut().zip(rest).for_each(|(sum, value)| *sum += (*value).into()),
    }
    sum_of_lanes(lanes)
}

struct Sums<'a> {
    ends: &'a Ends,
    response: &'a SlicedResponse<'a>,
}

impl Work for Sums<'_> {
    /// Of H, p and ‖g‖².
    type Output = [[f64; DECILES]; 3];

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { ends, response } = self;
        let facts = response.facts;
        [ends.sums(response.asked.trained.entropy), ends.sums(&facts.probability), ends.sums(&facts.energy)]
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
