//! Occurrences and energy of every token id.

use std::collections::{BTreeMap, HashMap};

use super::by_sign::{BySign, SignTally};
use super::energy::Sign;

/// Ids below this are counted in arrays, others (no vocabulary is that large) in a map.
pub const DENSE_IDS: usize = 1 << 20;
/// Distinct ids beyond the arrays; of more than these (noise) the smallest are counted.
const SPARSE_IDS: usize = 1 << 16;

/// Counts of all ids.
#[derive(Debug, Default)]
pub struct VocabularyCounts {
    dense: BySign,
    sparse: BTreeMap<i32, SignTally>,
    /// The text of an id from the occurrence with the smallest hash.
    texts: HashMap<i32, (u32, Box<str>)>,
}

impl VocabularyCounts {
    /// Makes room for ids up to `largest`; whether all of them are in the arrays.
    pub fn reserve(&mut self, largest: u32) -> bool {
        let largest = largest as usize;
        if largest >= DENSE_IDS {
            return false;
        }
        if largest >= self.dense.len() {
            self.dense.grow((largest + 1).next_power_of_two().max(1024));
        }
        true
    }

    /// The arrays, to add to.
    #[inline]
    pub fn dense(&mut self) -> &mut BySign {
        &mut self.dense
    }

    /// Counts one occurrence of any id; negative ones are not logged.
    pub fn add(&mut self, id: i32, sign: Sign, energy: u64) {
        let Ok(index) = usize::try_from(id) else { return };
        if index < self.dense.len() {
            match sign {
                Sign::Zero => self.dense.zero()[index] += 1,
                _ => self.dense.signed(sign)[index].add(energy),
            }
        } else {
            let mut one = SignTally::default();
            one.add(sign, energy);
            self.add_sparse(id, &one);
        }
    }

    fn add_sparse(&mut self, id: i32, tally: &SignTally) {
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
        self.dense.merge(&other.dense);
        for (id, tally) in &other.sparse {
            self.add_sparse(*id, tally);
        }
        for (id, (hash, text)) in &other.texts {
            self.note_text(*id, *hash, text);
        }
    }

    /// All ids that occur, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (i32, SignTally)> {
        let dense = (0..self.dense.len()).map(|index| (index as i32, self.dense.at(index)));
        let sparse = self.sparse.iter().map(|(id, tally)| (*id, *tally));
        dense.filter(|(_, tally)| tally.count() > 0).chain(sparse)
    }

    /// Takes out the logged texts.
    pub fn take_texts(&mut self) -> HashMap<i32, Box<str>> {
        std::mem::take(&mut self.texts).into_iter().map(|(id, (_, text))| (id, text)).collect()
    }
}
