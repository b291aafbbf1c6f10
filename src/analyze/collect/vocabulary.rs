//! Occurrences and energy of every token id.

use std::collections::{BTreeMap, HashMap};

use super::energy::Sign;
use super::entropy_histogram::Bin;

/// Ids below this are counted in arrays, others (no vocabulary is that large) in a map.
const DENSE_IDS: usize = 1 << 20;
/// Distinct ids beyond the arrays; of more than these (noise) the smallest are counted.
const SPARSE_IDS: usize = 1 << 16;

/// What is counted of an id.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdTally {
    /// A > 0.
    pub positive: Bin,
    /// A < 0.
    pub negative: Bin,
    /// A = 0.
    pub zero: u64,
}

impl IdTally {
    fn merge(&mut self, other: &Self) {
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
        self.zero += other.zero;
    }

    fn add(&mut self, sign: Sign, energy: u64) {
        match sign {
            Sign::Positive => self.positive.add(energy),
            Sign::Negative => self.negative.add(energy),
            Sign::Zero => self.zero += 1,
        }
    }

    /// Occurrences.
    pub fn count(&self) -> u64 {
        self.positive.count + self.negative.count + self.zero
    }
}

/// Counts of all ids.
#[derive(Debug, Default)]
pub struct VocabularyCounts {
    signed: [Vec<Bin>; 2],
    zero: Vec<u64>,
    sparse: BTreeMap<i32, IdTally>,
    /// The text of an id from the occurrence with the smallest hash.
    texts: HashMap<i32, (u32, Box<str>)>,
}

impl VocabularyCounts {
    /// Makes room for ids up to `largest`; whether all of them are in the arrays.
    pub fn reserve(&mut self, largest: u32) -> bool {
        let largest = largest as usize;
        if largest < self.zero.len() {
            return true;
        }
        if largest >= DENSE_IDS {
            return false;
        }
        let size = (largest + 1).next_power_of_two().max(1024);
        self.signed.iter_mut().for_each(|bins| bins.resize(size, Bin::default()));
        self.zero.resize(size, 0);
        true
    }

    /// The arrays of a sign other than zero, to add to.
    #[inline]
    pub fn signed(&mut self, sign: Sign) -> &mut [Bin] {
        &mut self.signed[usize::from(sign == Sign::Negative)]
    }

    /// The counts of A = 0, to add to.
    #[inline]
    pub fn zero(&mut self) -> &mut [u64] {
        &mut self.zero
    }

    /// Counts one occurrence of any id; negative ones are not logged.
    pub fn add(&mut self, id: i32, sign: Sign, energy: u64) {
        let Ok(index) = usize::try_from(id) else { return };
        if index < self.zero.len() {
            match sign {
                Sign::Zero => self.zero[index] += 1,
                _ => self.signed(sign)[index].add(energy),
            }
        } else {
            let mut one = IdTally::default();
            one.add(sign, energy);
            self.add_sparse(id, &one);
        }
    }

    fn add_sparse(&mut self, id: i32, tally: &IdTally) {
        self.sparse.entry(id).or_default().merge(tally);
        if self.sparse.len() > SPARSE_IDS {
            self.sparse.pop_last();
        }
    }

    /// Notes the text of an occurrence.
    #[inline]
    pub fn note_text(&mut self, id: i32, hash: u32, text: &str) {
        let keeps = |known: &(u32, Box<str>)| known.0 < hash || (known.0 == hash && *known.1 <= *text);
        if !self.texts.get(&id).is_some_and(keeps) {
            self.texts.insert(id, (hash, text.into()));
        }
    }

    /// Adds the counts of another worker.
    pub fn merge(&mut self, other: Self) {
        for (index, _) in other.zero.iter().enumerate() {
            let tally = other.dense(index);
            if tally.count() > 0 {
                self.reserve(index as u32);
                self.signed[0][index].merge(&tally.positive);
                self.signed[1][index].merge(&tally.negative);
                self.zero[index] += tally.zero;
            }
        }
        for (id, tally) in &other.sparse {
            self.add_sparse(*id, tally);
        }
        for (id, (hash, text)) in &other.texts {
            self.note_text(*id, *hash, text);
        }
    }

    fn dense(&self, index: usize) -> IdTally {
        IdTally { positive: self.signed[0][index], negative: self.signed[1][index], zero: self.zero[index] }
    }

    /// All ids that occur, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (i32, IdTally)> {
        let dense = (0..self.zero.len()).map(|index| (index as i32, self.dense(index)));
        let sparse = self.sparse.iter().map(|(id, tally)| (*id, *tally));
        dense.filter(|(_, tally)| tally.count() > 0).chain(sparse)
    }

    /// Takes out the logged texts.
    pub fn take_texts(&mut self) -> HashMap<i32, Box<str>> {
        std::mem::take(&mut self.texts).into_iter().map(|(id, (_, text))| (id, text)).collect()
    }
}
