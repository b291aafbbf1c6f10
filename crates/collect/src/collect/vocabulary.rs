//! Occurrences and energy of every token id.

use std::collections::{BTreeMap, HashMap};

use super::banded_bins::Counted;
use super::by_sign::{BySign, SignTally};
use super::energy::{Band, Sign};
use stapo_base::stats::exact_sum::ExactSum;

/// Ids below this are counted in arrays, others (no vocabulary is that large) in a map.
pub const DENSE_IDS: usize = 1 << 20;
/// Distinct ids beyond the arrays; of more than these (noise) the smallest are counted.
const SPARSE_IDS: usize = 1 << 16;

/// Counts of all ids.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct VocabularyCounts {
    dense: BySign,
    /// Ids that are too large for the arrays, and no others: which id is counted where must not
    /// depend on what came before it.
    sparse: BTreeMap<i32, SparseTally>,
    /// The text of an id from the occurrence with the smallest hash.
    #[serde(with = "stapo_base::encode::sorted")]
    texts: HashMap<i32, (u32, Box<str>)>,
}

/// What is counted of an id that the arrays do not hold.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct SparseTally {
    /// By sign, in the order of [`Sign::ALL`].
    counts: [u64; 3],
    energies: [ExactSum; 2],
}

impl SparseTally {
    fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.energies.iter_mut().zip(&other.energies).for_each(|(a, b)| a.merge(b));
    }

    fn finish(&self) -> SignTally {
        let signed = |i: usize| Counted { count: self.counts[i], energy: self.energies[i].value() };
        SignTally { positive: signed(0), negative: signed(1), zero: self.counts[2] }
    }
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

    /// Counts one occurrence of any id, with its energy in units of its block's band; negative ids
    /// are not logged.
    pub fn add(&mut self, id: i32, sign: Sign, units: u64, band: Option<Band>) {
        let Ok(id_bits) = u32::try_from(id) else { return };
        if self.reserve(id_bits) {
            let place = id_bits as usize;
            match sign {
                Sign::Zero => self.dense.zero(1)[place] += 1,
                _ => self.dense.signed(sign, band)[place].add(units),
            }
            return;
        }
        let mut one = SparseTally::default();
        one.counts[sign as usize] = 1;
        if let (Some(energy), Some(band)) = (one.energies.get_mut(sign as usize), band) {
            energy.add(units as f64 * band.unit());
        }
        self.add_sparse(id, &one);
    }

    fn add_sparse(&mut self, id: i32, tally: &SparseTally) {
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

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.dense.settle();
    }

    /// Whether its tables fit together.
    pub fn fits(&self) -> bool {
        self.dense.fits() && self.dense.len() <= DENSE_IDS
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
        let sparse = self.sparse.iter().map(|(id, tally)| (*id, tally.finish()));
        dense.filter(|(_, tally)| tally.count() > 0).chain(sparse)
    }

    /// Takes out the logged texts.
    pub fn take_texts(&mut self) -> HashMap<i32, Box<str>> {
        std::mem::take(&mut self.texts).into_iter().map(|(id, (_, text))| (id, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_listed_once_in_any_order() {
        let huge = DENSE_IDS as i32 + 7;
        let ids = [5, huge, 900, -1, 5, 70_000, huge, 900];
        let counted = |ids: &[i32]| {
            let mut counts = VocabularyCounts::default();
            let band = Band::of(2.0);
            ids.iter().for_each(|id| counts.add(*id, Sign::Positive, 1 << 40, band));
            let rows = counts.iter().map(|(id, tally)| (id, tally.positive.count, tally.positive.energy));
            rows.collect::<Vec<_>>()
        };
        let mut reversed = ids;
        reversed.reverse();
        let rows = counted(&ids);
        assert_eq!(rows, counted(&reversed));
        let found: Vec<(i32, u64)> = rows.iter().map(|row| (row.0, row.1)).collect();
        assert_eq!(found, [(5, 2), (900, 2), (70_000, 1), (huge, 2)]);
        assert_eq!(rows[0].2, rows[3].2, "energies of both kinds are alike");
    }
}
