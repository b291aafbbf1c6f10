//! Slices by decile of the response. Every response has them all, so they are counted in one place
//! each, without looking a key up.

use super::slice_keys::{DECILES, REPLICATES, number_key};
use super::slices::{SliceTable, SliceTally, SlicedResponse, Stretch};
use crate::stats::exact_sum::ExactSum;

/// What the tokens of each decile add up to.
#[derive(Clone, Debug)]
pub struct Deciles {
    tallies: [SliceTally; DECILES],
    /// Tokens and ‖g‖² by random group, then by decile: those of a response lie side by side.
    replicates: Vec<[(u64, ExactSum); DECILES]>,
    running: Vec<[f64; 3]>,
}

impl Default for Deciles {
    fn default() -> Self {
        Self {
            tallies: std::array::from_fn(|_| SliceTally::default()),
            replicates: vec![[(0, ExactSum::new()); DECILES]; REPLICATES],
            running: Vec::new(),
        }
    }
}

impl Deciles {
    /// Adds a response.
    pub fn add(&mut self, response: &SlicedResponse<'_>) {
        self.run(response);
        let asked = response.asked;
        let length = asked.source.range(asked.index).len();
        let (mut first, mut before) = (0, [0.0; 3]);
        let replicate = &mut self.replicates[response.replicate];
        for (decile, (tally, into)) in self.tallies.iter_mut().zip(replicate).enumerate() {
            // The first token of the next one: token · 10 / length is above this decile.
            let next = ((decile + 1) * length).div_ceil(DECILES);
            let end = match asked.picks {
                None => next.min(asked.trained.len()),
                Some(picks) => first + picks[first..].partition_point(|token| (*token as usize) < next),
            };
            if end > first {
                let sums = self.running[end - 1];
                let [entropy, probability, energy] = std::array::from_fn(|i| sums[i] - before[i]);
                let (k3, compared) = response.k3.sum(first..end);
                let (tokens, clipped) = ((end - first) as u64, response.clipped(first..end));
                let stretch = Stretch { tokens, clipped, compared, entropy, probability, energy, k3 };
                tally.add_states(&stretch);
                into.0 += tokens;
                into.1.add(energy);
                before = sums;
            }
            first = end;
        }
    }

    /// Sums of H, p and ‖g‖² up to each token. Loops over the few tokens of each decile would end at
    /// another length nearly every time. No term is below 0, so differences of sums are none, either;
    /// all are told as means or shares of the run, where what a difference loses does not count. k3 has
    /// tails that are too long for that.
    fn run(&mut self, response: &SlicedResponse<'_>) {
        let n = response.asked.trained.len();
        let entropy = &response.asked.trained.entropy[..n];
        let (probability, energy) = (&response.facts.probability[..n], &response.facts.energy[..n]);
        self.running.resize(n, [0.0; 3]);
        let (mut all_entropy, mut all_probability, mut all_energy) = (0.0, 0.0, 0.0);
        for (t, running) in self.running.iter_mut().enumerate() {
            all_entropy += f64::from(entropy[t]);
            all_probability += probability[t];
            all_energy += energy[t];
            *running = [all_entropy, all_probability, all_energy];
        }
    }

    /// Gives back the memory of the last response.
    pub fn let_go(&mut self) {
        self.running = Vec::new();
    }

    /// Adds them to the table of the dimension.
    pub fn pour(mut self, table: &mut SliceTable) {
        for (decile, tally) in self.tallies.iter_mut().enumerate().filter(|(_, tally)| tally.tokens > 0) {
            tally.replicates = self.replicates.iter().map(|deciles| deciles[decile]).collect();
            table.at(number_key(decile as f64)).merge(tally);
        }
    }
}
