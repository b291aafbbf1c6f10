//! Tokens, entropy, energy and the rest by the values of a dimension.
//!
//! Memory is bounded: numbers of too many values keep fewer of their leading bits, texts of too many
//! values keep those of the smallest hashes. Which ones depends on the values alone, not their order.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Asked;
use super::slice_keys::{MISSING, REPLICATES, TokenPlace, key_of, stretch_end, text_of};
use super::token_facts::TokenFacts;
use crate::collect::tally::{Quantity, ResponseSums};
use crate::plan::Dimension;
use stapo_base::simd;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_base::stats::log_sum::LogSum;

/// Values of one dimension that are told apart while collecting.
const VALUES: usize = 512;
/// Last bits of a number that are dropped, from none on. At the last level only the sign and the seven
/// highest bits of the exponent are left: fewer keys than [`VALUES`], whatever is logged.
const DROPPED_BITS: [u32; 10] = [0, 24, 36, 44, 48, 50, 51, 52, 54, 56];
/// What the tokens of one value add up to. Parts merge in any order to the same bits.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SliceTally {
    /// The value, where it is a text.
    #[serde(with = "stapo_base::encode::shared_text")]
    pub text: Option<Arc<str>>,
    /// Responses, in dimensions of these.
    pub responses: u64,
    /// Tokens.
    pub tokens: u64,
    /// Of these, clipped ones.
    pub clipped: u64,
    /// Of these, with an engine difference.
    pub compared: u64,
    /// H.
    pub entropy: ExactSum,
    /// p.
    pub probability: ExactSum,
    /// k3 of the engine difference.
    pub k3: LogSum,
    /// Tokens and ‖g‖² by random group.
    pub replicates: Vec<(u64, ExactSum)>,
}

impl Default for SliceTally {
    fn default() -> Self {
        Self {
            text: None,
            responses: 0,
            tokens: 0,
            clipped: 0,
            compared: 0,
            entropy: ExactSum::new(),
            probability: ExactSum::new(),
            k3: LogSum::default(),
            replicates: vec![(0, ExactSum::new()); REPLICATES],
        }
    }
}

impl SliceTally {
    fn add(&mut self, stretch: &Stretch, replicate: usize) {
        self.tokens += stretch.tokens;
        self.clipped += stretch.clipped;
        self.entropy.add(stretch.entropy);
        self.probability.add(stretch.probability);
        if stretch.compared > 0 {
            self.compared += stretch.compared;
            self.k3.add(stretch.k3);
        }
        let (tokens, energy) = &mut self.replicates[replicate];
        *tokens += stretch.tokens;
        energy.add(stretch.energy);
    }

    /// ‖g‖² of all its random groups.
    pub fn energy(&self) -> f64 {
        let mut all = ExactSum::new();
        self.replicates.iter().for_each(|(_, energy)| all.merge(energy));
        all.value()
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.text = self.text.take().or_else(|| other.text.clone());
        self.responses += other.responses;
        self.tokens += other.tokens;
        self.clipped += other.clipped;
        self.compared += other.compared;
        self.entropy.merge(&other.entropy);
        self.probability.merge(&other.probability);
        self.k3.merge(&other.k3);
        for (a, b) in self.replicates.iter_mut().zip(&other.replicates) {
            a.0 += b.0;
            a.1.merge(&b.1);
        }
    }
}

/// The values of a dimension, each with what its tokens add up to.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SliceTable {
    /// By key.
    pub values: BTreeMap<u64, SliceTally>,
    /// Texts that are too many.
    pub other: SliceTally,
    /// Place in [`DROPPED_BITS`].
    level: usize,
    texts: bool,
}

impl SliceTable {
    /// The key under which a value is found.
    pub fn kept(&self, key: u64) -> u64 {
        match DROPPED_BITS[self.level] {
            0 => key,
            _ if self.texts || key == MISSING => key,
            // Not 0, which is what is missing.
            bits => (key >> bits << bits).max(1),
        }
    }

    /// Whether numbers were put together: their keys are lower ends of ranges.
    pub fn is_coarse(&self) -> bool {
        self.level > 0
    }

    /// Where a value is counted.
    pub(super) fn at(&mut self, key: u64) -> &mut SliceTally {
        let key = self.kept(key);
        if self.values.len() >= VALUES && !self.values.contains_key(&key) {
            if !self.texts {
                self.coarsen(self.level + 1);
                return self.at(key);
            }
            match self.values.last_key_value() {
                Some((largest, _)) if *largest > key => {
                    if let Some((_, tally)) = self.values.pop_last() {
                        self.other.merge(&tally);
                        self.other.text = None;
                    }
                }
                _ => return &mut self.other,
            }
        }
        self.values.entry(key).or_default()
    }

    fn coarsen(&mut self, level: usize) {
        let level = level.min(DROPPED_BITS.len() - 1);
        if level > self.level {
            self.level = level;
            for (key, tally) in std::mem::take(&mut self.values) {
                let key = self.kept(key);
                self.values.entry(key).or_default().merge(&tally);
            }
        }
    }

    /// Whether its tables are of the right sizes.
    pub fn fits(&self) -> bool {
        let whole = |tally: &SliceTally| tally.replicates.len() == REPLICATES;
        self.level < DROPPED_BITS.len()
            && self.values.len() <= VALUES
            && self.values.values().chain([&self.other]).all(whole)
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, other: &Self) {
        self.texts |= other.texts;
        self.coarsen(other.level);
        for (key, tally) in &other.values {
            self.at(*key).merge(tally);
        }
        self.other.merge(&other.other);
        self.other.text = None;
    }
}

/// A response with what the framework found for its tokens.
pub struct SlicedResponse<'a> {
    /// The response.
    pub asked: &'a Asked<'a>,
    /// What was found.
    pub facts: &'a TokenFacts,
    /// What all trained tokens add up to.
    pub sums: &'a ResponseSums,
    /// k3 of the engine difference.
    pub k3: LoggedK3<'a>,
    /// Its random group.
    pub replicate: usize,
}

/// k3 of the engine difference by trained token; empty without any.
#[derive(Clone, Copy)]
pub struct LoggedK3<'a> {
    /// NaN where not logged.
    pub values: &'a [f64],
    /// Whether all are logged.
    pub complete: bool,
    /// The sum over all tokens, and of how many.
    pub all: (f64, u64),
}

impl LoggedK3<'_> {
    /// The sum over tokens, and of how many.
    pub fn sum(&self, range: std::ops::Range<usize>) -> (f64, u64) {
        let values = self.values.get(range).unwrap_or_default();
        if self.complete {
            return (simd::sum(values), values.len() as u64);
        }
        let known = values.iter().filter(|k3| !k3.is_nan());
        known.fold((0.0, 0), |(sum, count), k3| (sum + k3, count + 1))
    }
}

/// What a stretch of a response's tokens adds up to.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Tokens.
    pub tokens: u64,
    /// Of these, clipped ones.
    pub clipped: u64,
    /// Of these, with an engine difference.
    pub compared: u64,
    /// H.
    pub entropy: f64,
    /// p.
    pub probability: f64,
    /// ‖g‖².
    pub energy: f64,
    /// k3 of the engine difference.
    pub k3: f64,
}

impl SlicedResponse<'_> {
    /// What the trained tokens of `range` add up to.
    pub fn stretch(&self, range: std::ops::Range<usize>) -> Stretch {
        let facts = self.facts;
        let (k3, compared) = self.k3.sum(range.clone());
        Stretch {
            tokens: range.len() as u64,
            clipped: self.clipped(range.clone()),
            compared,
            entropy: simd::sum(&self.asked.trained.entropy[range.clone()]),
            probability: simd::sum(&facts.probability[range.clone()]),
            energy: simd::sum(facts.energy.get(range).unwrap_or_default()),
            k3,
        }
    }

    /// What all trained tokens add up to.
    fn whole(&self) -> Stretch {
        let all = 0..self.asked.trained.len();
        let (k3, compared) = self.k3.all;
        Stretch {
            tokens: all.len() as u64,
            clipped: self.clipped(all),
            compared,
            entropy: self.sums.get(Quantity::Entropy),
            probability: self.sums.get(Quantity::Probability),
            energy: self.sums.energy(),
            k3,
        }
    }

    /// How many tokens of `range` are clipped.
    pub fn clipped(&self, range: std::ops::Range<usize>) -> u64 {
        self.facts.clipped(range)
    }
}

/// Adds a response to a dimension's values: stretches of tokens of one value at once. `whole` is the
/// stretch of all its trained tokens, which dimensions of responses share.
pub fn add(
    table: &mut SliceTable,
    dimension: &Dimension,
    response: &SlicedResponse<'_>,
    whole: &OnceCell<Stretch>,
) {
    let asked = response.asked;
    let n = asked.trained.len();
    let text = text_of(dimension, asked);
    table.texts |= text.is_some();
    let of_response = dimension.source.is_of_responses();
    let mut first = 0;
    while first < n {
        let key = key_of(dimension, TokenPlace::of(asked, first));
        let end = if of_response { n } else { stretch_end(dimension, asked, first, key) };
        let tally = table.at(key);
        tally.responses += u64::from(of_response);
        if tally.text.is_none() {
            tally.text.clone_from(&text);
        }
        match first == 0 && end == n {
            true => tally.add(whole.get_or_init(|| response.whole()), response.replicate),
            false => tally.add(&response.stretch(first..end), response.replicate),
        }
        first = end;
    }
    table.other.text = None;
}

#[cfg(test)]
mod tests {
    use super::super::slice_keys::number_key;
    use super::*;

    #[test]
    fn numbers_of_every_size_end_in_few_values() {
        let mut table = SliceTable::default();
        let sizes = (-1022..=1023).map(|exponent| 2.0_f64.powi(exponent));
        for value in sizes.clone().chain(sizes.map(|size| -size)).chain([0.0, f64::NAN]) {
            table.at(number_key(value)).tokens += 1;
        }
        assert!(table.values.len() <= VALUES);
        assert_eq!(table.values.values().map(|tally| tally.tokens).sum::<u64>(), 2 * 2046 + 2);
        assert_eq!(table.values[&MISSING].tokens, 1);
    }
}
