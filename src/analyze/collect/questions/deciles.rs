//! Slices by decile of the response. Every response has them all, so they are counted in one place
//! each, without looking a key up.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use super::places::Ends;
use super::slice_keys::{DECILES, REPLICATES, number_key};
use super::slices::{SliceTable, SliceTally, SlicedResponse};
use crate::simd::{LANES, Work, filled_up, sum_of_lanes, widest};
use crate::stats::exact_sum::ExactSum;
use crate::stats::fixed_point::{add_units, small_to_fixed};

/// What the tokens of each decile add up to.
#[derive(Clone, Debug)]
pub struct Deciles {
    /// Everything but what follows, which is added at the end.
    tallies: [SliceTally; DECILES],
    /// H and p in units: of twenty sums for every response most would cost more than what is summed.
    states: [States; DECILES],
    /// Tokens and ‖g‖² by random group, then by decile: those of a response lie side by side.
    replicates: Vec<[(u64, ExactSum); DECILES]>,
    /// Σ H and Σ p of the first tokens of a response in units, from none on; reused. One addition a token: the few of
    /// a decile, each added up for itself, would be another number nearly every time.
    up_to: Vec<[i64; 2]>,
}

/// Σ H and Σ p in units.
type States = [i128; 2];

/// Tokens whose states in units cannot add up to more than 64 bits hold: H is below 2^5.
const ROOM: usize = 1 << 17;

impl Default for Deciles {
    fn default() -> Self {
        Self {
            tallies: std::array::from_fn(|_| SliceTally::default()),
            states: [[0; 2]; DECILES],
            replicates: vec![[(0, ExactSum::new()); DECILES]; REPLICATES],
            up_to: Vec::new(),
        }
    }
}

impl Deciles {
    /// Adds a response.
    pub fn add(&mut self, response: &SlicedResponse<'_>, ends: &Ends) {
        self.add_states(response, ends);
        let k3 = &response.k3;
        let logged = if k3.complete { k3.values } else { &[] };
        let (energy, logged) = widest(Sums { ends, energy: &response.facts.energy, k3: logged });
        let replicate = &mut self.replicates[response.replicate];
        for (decile, tally) in self.tallies.iter_mut().enumerate() {
            let range = ends.0[decile]..ends.0[decile + 1];
            let tokens = range.len() as u64;
            tally.tokens += tokens;
            tally.clipped += response.clipped(range.clone());
            let (k3, compared) = match k3.complete {
                true => (logged[decile], if k3.values.is_empty() { 0 } else { tokens }),
                false => k3.sum(range),
            };
            if compared > 0 {
                tally.compared += compared;
                tally.k3.add(k3);
            }
            replicate[decile].0 += tokens;
            replicate[decile].1.add(energy[decile]);
        }
    }

    fn add_states(&mut self, response: &SlicedResponse<'_>, ends: &Ends) {
        let (entropy, probability) = (response.asked.trained.entropy, &response.facts.probability);
        for first in (0..entropy.len()).step_by(ROOM) {
            let some = first..entropy.len().min(first + ROOM);
            self.up_to.resize(some.len() + 1, [0; 2]);
            let units = &mut self.up_to[1..];
            widest(InUnits {
                entropy: &entropy[some.clone()],
                probability: &probability[some.clone()],
                units: &mut *units,
            });
            let mut up_to = [0; 2];
            for units in units {
                up_to = [up_to[0] + units[0], up_to[1] + units[1]];
                *units = up_to;
            }
            for (decile, states) in self.states.iter_mut().enumerate() {
                let end = |of: usize| self.up_to[of.clamp(some.start, some.end) - some.start];
                let (from, to) = (end(ends.0[decile]), end(ends.0[decile + 1]));
                states
                    .iter_mut()
                    .zip(to)
                    .zip(from)
                    .for_each(|((all, to), from)| *all += i128::from(to - from));
            }
        }
    }

    /// Adds them to the table of the dimension.
    pub fn pour(mut self, table: &mut SliceTable) {
        for (decile, tally) in self.tallies.iter_mut().enumerate().filter(|(_, tally)| tally.tokens > 0) {
            tally.replicates = self.replicates.iter().map(|deciles| deciles[decile]).collect();
            let [entropy, probability] = self.states[decile];
            add_units(&mut tally.entropy, entropy);
            add_units(&mut tally.probability, probability);
            table.at(number_key(decile as f64)).merge(tally);
        }
    }
}

/// The sum over each decile.
#[inline(always)]
fn sums(ends: &Ends, values: &[f64]) -> [f64; DECILES] {
    let mut sums = [0.0; DECILES];
    for decile in 0..DECILES {
        sums[decile] = sum_of(values, ends.0[decile]..ends.0[decile + 1]);
    }
    sums
}

/// Which lanes of a chunk hold one of so many values, as bits: what is chosen lane by lane is added one by one.
const HELD: [[u64; LANES]; LANES + 1] = {
    let mut held = [[0; LANES]; LANES + 1];
    let mut values = 0;
    while values <= LANES {
        let mut lane = 0;
        while lane < values {
            held[values][lane] = u64::MAX;
            lane += 1;
        }
        values += 1;
    }
    held
};

/// The sum of some of the values, in lanes. What is left of them is taken with what follows and counted where it
/// is theirs: a loop over the few tokens of a decile ends at another length nearly every time.
#[inline(always)]
fn sum_of(values: &[f64], range: Range<usize>) -> f64 {
    let (whole, rest) = values[range.clone()].as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in whole {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    let last = match values[range.end - rest.len()..].first_chunk::<LANES>() {
        Some(chunk) => *chunk,
        None => filled_up(rest, 0.0),
    };
    let held = &HELD[rest.len().min(LANES)];
    for lane in 0..LANES {
        lanes[lane] += f64::from_bits(last[lane].to_bits() & held[lane]);
    }
    sum_of_lanes(lanes)
}

/// Energy and k3, where all are logged, of each decile.
struct Sums<'a> {
    ends: &'a Ends,
    energy: &'a [f64],
    k3: &'a [f64],
}

impl Work for Sums<'_> {
    type Output = ([f64; DECILES], [f64; DECILES]);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let k3 = if self.k3.is_empty() { [0.0; DECILES] } else { sums(self.ends, self.k3) };
        (sums(self.ends, self.energy), k3)
    }
}

/// H and p of every token, in units.
struct InUnits<'a> {
    entropy: &'a [f32],
    probability: &'a [f64],
    units: &'a mut [[i64; 2]],
}

impl Work for InUnits<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (units, (entropy, probability)) in
            self.units.iter_mut().zip(self.entropy.iter().zip(self.probability))
        {
            *units = [small_to_fixed(f64::from(*entropy)), small_to_fixed(*probability)];
        }
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
            trained in prop::collection::vec(any::<bool>(), 0..600),
            all in any::<bool>(),
        ) {
            let picks: Vec<u32> = (0..trained.len() as u32).filter(|t| all || trained[*t as usize]).collect();
            let values: Vec<f64> = (0..picks.len()).map(|i| 1.0 + (i * i) as f64).collect();
            let some = (!all).then_some(picks.as_slice());
            let sums = sums(&Ends::of(values.len(), trained.len(), some), &values);
            let mut expected = [0.0; DECILES];
            for (token, value) in picks.iter().zip(&values) {
                expected[*token as usize * DECILES / trained.len()] += value;
            }
            prop_assert_eq!(sums, expected);
        }
    }
}
