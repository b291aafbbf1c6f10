//! A bounded sample of whole sets of responses: groups, or steps, whose responses come in any order and from any shard.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What is kept of a response knows where it stood.
pub trait Placed: Clone + Serialize + DeserializeOwned {
    /// Order in the log; the second number tells apart what claims the same place.
    fn order(&self) -> (u64, u64);
}

/// The sets with the least hashes whose responses together are at most `LIMIT`.
///
/// A set is dropped once those up to it are too many, and from then on nothing at or above its hash is taken. Sets only
/// grow, so what is dropped would be too much in the end as well, and what is kept was never dropped: each set that is
/// kept is whole, and the same ones are kept for any order and split of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: DeserializeOwned"))]
pub struct Whole<T, const LIMIT: usize> {
    sets: BTreeMap<u64, Vec<T>>,
    /// Responses that are kept.
    len: usize,
    /// The least hash that was dropped.
    dropped: Option<u64>,
}

impl<T, const LIMIT: usize> Default for Whole<T, LIMIT> {
    fn default() -> Self {
        Self { sets: BTreeMap::new(), len: 0, dropped: None }
    }
}

impl<T: Placed, const LIMIT: usize> Whole<T, LIMIT> {
    /// Adds a response to the set with that hash; `make` is called where it is kept.
    pub fn add(&mut self, hash: u64, make: impl FnOnce() -> T) {
        if self.takes(hash) {
            // Most sets are small groups: room for four of each would double what they take.
            let set = self.sets.entry(hash).or_default();
            if set.len() == set.capacity() {
                set.reserve_exact(set.len().max(1));
            }
            set.push(make());
            self.len += 1;
            self.drop_excess();
        }
    }

    /// The sets, by hash; each in the order of the log, once settled.
    pub fn sets(&self) -> impl Iterator<Item = &[T]> {
        self.sets.values().map(Vec::as_slice)
    }

    /// Changes what is kept of each response.
    pub fn for_each(&mut self, change: impl FnMut(&mut T)) {
        self.sets.values_mut().flatten().for_each(change);
    }

    /// Whether no set was left out.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.dropped.is_none()
    }

    fn takes(&self, hash: u64) -> bool {
        self.dropped.is_none_or(|dropped| hash < dropped)
    }

    fn drop_excess(&mut self) {
        while self.len > LIMIT {
            let Some((hash, set)) = self.sets.pop_last() else { break };
            self.len -= set.len();
            self.dropped = Some(hash);
        }
    }
}

impl<T: Placed, const LIMIT: usize> Accumulate for Whole<T, LIMIT> {
    fn merge(&mut self, other: Self) {
        if let Some(dropped) = other.dropped.filter(|dropped| self.takes(*dropped)) {
            self.dropped = Some(dropped);
            let beyond = self.sets.split_off(&dropped);
            self.len -= beyond.values().map(Vec::len).sum::<usize>();
        }
        for (hash, set) in other.sets {
            if self.takes(hash) {
                self.len += set.len();
                match self.sets.entry(hash) {
                    // As it is: most groups lie in one piece, and a copy would make room for more.
                    Entry::Vacant(free) => {
                        free.insert(set);
                    }
                    Entry::Occupied(mut same) => same.get_mut().extend(set),
                }
            }
        }
        self.drop_excess();
    }

    fn settle(&mut self) {
        self.sets.values_mut().for_each(|set| set.sort_by_key(T::order));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Placed for u64 {
        fn order(&self) -> (u64, u64) {
            (*self, 0)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_order_and_split_keeps_the_same_whole_sets(
            mut log in prop::collection::vec((0..12_u64, 0..1000_u64), 0..80),
            cuts in prop::collection::vec(0..80_usize, 0..4),
        ) {
            let collect = |log: &[(u64, u64)]| {
                let mut sample = Whole::<u64, 20>::default();
                log.iter().for_each(|(hash, place)| sample.add(*hash, || *place));
                sample
            };
            let mut whole = collect(&log);
            whole.settle();
            prop_assert!(whole.len <= 20);
            for (hash, set) in &whole.sets {
                prop_assert_eq!(set.len(), log.iter().filter(|(other, _)| other == hash).count());
            }
            log.reverse();
            let mut pieces: Vec<_> = log.chunks(cuts.len() * 7 + 3).map(collect).collect();
            if let Some(by) = cuts.first().filter(|_| !pieces.is_empty()) {
                let by = by % pieces.len();
                pieces.rotate_left(by);
            }
            let mut merged = Whole::default();
            pieces.into_iter().for_each(|piece| merged.merge(piece));
            merged.settle();
            prop_assert_eq!(merged, whole);
        }
    }
}
