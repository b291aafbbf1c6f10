//! A bounded sample that does not depend on order: the keys with the smallest hashes.

use crate::Accumulate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// State of the `N` keys whose hashes are smallest. A key among these in the end was so in every piece of the log that
/// holds it, so its state is whole; one that fell out once cannot come back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashSample<T, const N: usize> {
    kept: BTreeMap<u64, T>,
}

impl<T, const N: usize> Default for HashSample<T, N> {
    fn default() -> Self {
        Self { kept: BTreeMap::new() }
    }
}

impl<T: Default, const N: usize> HashSample<T, N> {
    /// The state of a key with this hash, which has to be spread evenly; `None` where it is not in the sample.
    #[inline]
    pub fn at(&mut self, hash: u64) -> Option<&mut T> {
        if self.kept.len() >= N {
            let greatest = *self.kept.last_key_value()?.0;
            if hash > greatest {
                return None;
            }
            if hash < greatest && !self.kept.contains_key(&hash) {
                self.kept.pop_last();
            }
        }
        Some(self.kept.entry(hash).or_default())
    }

    /// What is kept, by hash.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, &T)> {
        self.kept.iter().map(|(hash, state)| (*hash, state))
    }

    /// The states, by hash.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> + Clone {
        self.kept.values()
    }

    /// Number of keys in the sample.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no key was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether keys may have been left out.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kept.len() >= N
    }
}

impl<T: Accumulate, const N: usize> Accumulate for HashSample<T, N> {
    fn merge(&mut self, other: Self) {
        for (hash, state) in other.kept {
            match self.kept.entry(hash) {
                Entry::Occupied(mut mine) => mine.get_mut().merge(state),
                Entry::Vacant(free) => {
                    free.insert(state);
                }
            }
        }
        while self.kept.len() > N {
            self.kept.pop_last();
        }
    }

    fn settle(&mut self) {
        self.kept.values_mut().for_each(T::settle);
    }
}
