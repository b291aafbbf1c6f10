//! What holds several: each element merges with its counterpart.

use crate::Accumulate;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// `None` until one piece has it.
impl<T: Accumulate> Accumulate for Option<T> {
    fn merge(&mut self, other: Self) {
        match (self.as_mut(), other) {
            (Some(mine), Some(other)) => mine.merge(other),
            (None, other @ Some(_)) => *self = other,
            (_, None) => {}
        }
    }

    fn settle(&mut self) {
        self.iter_mut().for_each(T::settle);
    }
}

/// By index: the longer gives the length.
impl<T: Accumulate> Accumulate for Vec<T> {
    fn merge(&mut self, other: Self) {
        if self.len() < other.len() {
            self.resize_with(other.len(), T::default);
        }
        self.iter_mut().zip(other).for_each(|(mine, other)| mine.merge(other));
    }

    fn settle(&mut self) {
        self.iter_mut().for_each(T::settle);
    }
}

impl<T: Accumulate, const N: usize> Accumulate for [T; N]
where
    Self: Default + Serialize + DeserializeOwned,
{
    fn merge(&mut self, other: Self) {
        self.iter_mut().zip(other).for_each(|(mine, other)| mine.merge(other));
    }

    fn settle(&mut self) {
        self.iter_mut().for_each(T::settle);
    }
}

impl<A: Accumulate, B: Accumulate> Accumulate for (A, B) {
    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }

    fn settle(&mut self) {
        self.0.settle();
        self.1.settle();
    }
}

/// By key.
impl<K: Ord + Serialize + DeserializeOwned, V: Accumulate> Accumulate for BTreeMap<K, V> {
    fn merge(&mut self, other: Self) {
        for (key, value) in other {
            match self.entry(key) {
                Entry::Occupied(mut mine) => mine.get_mut().merge(value),
                Entry::Vacant(free) => {
                    free.insert(value);
                }
            }
        }
    }

    fn settle(&mut self) {
        self.values_mut().for_each(V::settle);
    }
}
