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
    /// The same of the last responses, in lanes that each of them is added to.
    open: Box<OpenStates>,
    /// What was added to a lane of these, at most.
    added: usize,
    /// Tokens and ‖g‖² by random group, then by decile: those of a response lie side by side.
    replicates: Vec<[(u64, ExactSum); DECILES]>,
}

/// Σ H and Σ p in units.
type States = [i128; 2];
type OpenStates = [[[i64; LANES]; 2]; DECILES];

/// Tokens whose states in units cannot add up to more than 64 bits hold: H is below 2^5.
const ROOM: usize = 1 << 17;

impl Default for Deciles {
    fn default() -> Self {
        Self {
            tallies: std::array::from_fn(|_| SliceTally::default()),
            states: [[0; 2]; DECILES],
            open: Box::new([[[0; LANES]; 2]; DECILES]),
            added: 0,
            replicates: vec![[(0, ExactSum::new()); DECILES]; REPLICATES],
        }
    }
}

impl Deciles {
    /// Adds a response.
    pub fn add(&mut self, response: &SlicedResponse<'_>, ends: &Ends) {
        self.add_states(response.asked.trained.entropy, &response.facts.probability, ends);
        let k3 = &response.k3;
        let logged = if k3.complete { k3.values } else { &[] };
        let energies = &response.facts.energy[..];
        let (energy, logged) = widest(Sums { ends, energy: energies, k3: logged });
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
        }
        if !energies.is_empty() {
            replicate.iter_mut().zip(energy).for_each(|((_, sum), energy)| sum.add(energy));
        }
    }

    fn add_states(&mut self, entropy: &[f32], probability: &[f64], ends: &Ends) {
        let longest = ends.0.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        let more = longest.div_ceil(LANES);
        if self.added + more > ROOM {
            self.close();
        }
        if more <= ROOM {
            self.added += more;
            widest(AddStates { ends, entropy, probability, open: &mut self.open });
            return;
        }
        for (decile, states) in self.states.iter_mut().enumerate() {
            let range = ends.0[decile]..ends.0[decile + 1];
            for (entropy, probability) in entropy[range.clone()].iter().zip(&probability[range]) {
                states[0] += i128::from(small_to_fixed(f64::from(*entropy)));
                states[1] += i128::from(small_to_fixed(*probability));
            }
        }
    }

    /// Adds up the lanes.
    fn close(&mut self) {
        for (states, open) in self.states.iter_mut().zip(self.open.iter_mut()) {
            for (all, lanes) in states.iter_mut().zip(open) {
                *all += lanes.iter().map(|units| i128::from(*units)).sum::<i128>();
                *lanes = [0; LANES];
            }
        }
        self.added = 0;
    }

    /// Adds them to the table of the dimension.
    pub fn pour(mut self, table: &mut SliceTable) {
        self.close();
        for (decile, tally) in self.tallies.iter_mut().enumerate().filter(|(_, tally)| tally.tokens > 0) {
            tally.replicates = self.replicates.iter().map(|deciles| deciles[decile]).collect();
            let [entropy, probability] = self.states[decile];
            add_units(&mut tally.entropy, entropy);
            add_units(&mut tally.probability, probability);
            table.at(number_key(decile as f64)).merge(tally);
        }
    }
}

/// The sum over each decile; 0 without values.
#[inline(always)]
fn sums(ends: &Ends, values: &[f64]) -> [f64; DECILES] {
    let mut sums = [0.0; DECILES];
    if values.is_empty() {
        return sums;
    }
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

/// What is left of values that end at a place, taken with what follows: a loop over the few tokens of a decile ends at
/// another length nearly every time.
#[inline(always)]
fn last_chunk<T: Copy + Default>(values: &[T], end: usize, rest: &[T]) -> [T; LANES] {
    match values[end - rest.len()..].first_chunk::<LANES>() {
        Some(chunk) => *chunk,
        None => filled_up(rest, T::default()),
    }
}

/// The sum of some of the values, in lanes. What is left of them is counted where it is theirs.
#[inline(always)]
fn sum_of(values: &[f64], range: Range<usize>) -> f64 {
    let (whole, rest) = values[range.clone()].as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in whole {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    let last = last_chunk(values, range.end, rest);
    let held = &HELD[rest.len().min(LANES)];
    for lane in 0..LANES {
        lanes[lane] += f64::from_bits(last[lane].to_bits() & held[lane]);
    }
    sum_of_lanes(lanes)
}

/// Energy, where there is any, and k3, where all are logged, of each decile.
struct Sums<'a> {
    ends: &'a Ends,
    energy: &'a [f64],
    k3: &'a [f64],
}

impl Work for Sums<'_> {
    type Output = ([f64; DECILES], [f64; DECILES]);

    #[inline(always)]
    fn call(self) -> Self::Output {
        (sums(self.ends, self.energy), sums(self.ends, self.k3))
    }
}

/// Adds H and p of the tokens of each decile to its lanes, in units.
struct AddStates<'a> {
    ends: &'a Ends,
    entropy: &'a [f32],
    probability: &'a [f64],
    open: &'a mut OpenStates,
}

impl Work for AddStates<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { ends, entropy, probability, open } = self;
        for decile in 0..DECILES {
            let range = ends.0[decile]..ends.0[decile + 1];
            let [mut sum, mut likely] = open[decile];
            let (whole, rest) = entropy[range.clone()].as_chunks::<LANES>();
            let (whole_likely, rest_likely) = probability[range.clone()].as_chunks::<LANES>();
            for (entropy, probability) in whole.iter().zip(whole_likely) {
                for lane in 0..LANES {
                    sum[lane] += small_to_fixed(f64::from(entropy[lane]));
                    likely[lane] += small_to_fixed(probability[lane]);
                }
            }
            let entropy = last_chunk(entropy, range.end, rest);
            let probability = last_chunk(probability, range.end, rest_likely);
            let held = &HELD[rest.len().min(LANES)];
            for lane in 0..LANES {
                let held = held[lane].cast_signed();
                sum[lane] += small_to_fixed(f64::from(entropy[lane])) & held;
                likely[lane] += small_to_fixed(probability[lane]) & held;
            }
            open[decile] = [sum, likely];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As many tokens as lanes have room for are added in lanes, one more is added one by one; then the lanes are full.
    #[test]
    fn deciles_of_a_million_tokens_add_up() {
        let most = ROOM * LANES;
        for first in [most, most + 1] {
            let ends = Ends(std::array::from_fn(|end| if end == 0 { 0 } else { first + 3 * (end - 1) }));
            let tokens = ends.0[DECILES];
            let entropy: Vec<f32> = (0..tokens).map(|t| (t % 31) as f32).collect();
            let probability: Vec<f64> = (0..tokens).map(|t| 1.0 / (1 + t % 7) as f64).collect();
            let mut expected = [[0; 2]; DECILES];
            for (decile, states) in expected.iter_mut().enumerate() {
                for t in ends.0[decile]..ends.0[decile + 1] {
                    states[0] += 2 * i128::from(small_to_fixed(f64::from(entropy[t])));
                    states[1] += 2 * i128::from(small_to_fixed(probability[t]));
                }
            }
            let mut deciles = Deciles::default();
            deciles.add_states(&entropy, &probability, &ends);
            assert_eq!(deciles.added, if first == most { ROOM } else { 0 });
            deciles.add_states(&entropy, &probability, &ends);
            deciles.close();
            assert_eq!(deciles.states, expected);
        }
    }

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
            let ends = Ends::of(values.len(), trained.len(), some);
            let sums = sums(&ends, &values);
            let mut expected = [0.0; DECILES];
            for (token, value) in picks.iter().zip(&values) {
                expected[*token as usize * DECILES / trained.len()] += value;
            }
            prop_assert_eq!(sums, expected);
            let entropy: Vec<f32> = values.iter().map(|value| (value % 20.0) as f32).collect();
            let probability: Vec<f64> = values.iter().map(|value| 1.0 / value).collect();
            let mut open = [[[0; LANES]; 2]; DECILES];
            widest(AddStates { ends: &ends, entropy: &entropy, probability: &probability, open: &mut open });
            let mut expected = [[0; 2]; DECILES];
            for (token, (h, p)) in picks.iter().zip(entropy.iter().zip(&probability)) {
                let states = &mut expected[*token as usize * DECILES / trained.len()];
                *states = [states[0] + small_to_fixed(f64::from(*h)), states[1] + small_to_fixed(*p)];
            }
            prop_assert_eq!(open.map(|lanes| lanes.map(|lanes| lanes.iter().sum::<i64>())), expected);
        }
    }
}
