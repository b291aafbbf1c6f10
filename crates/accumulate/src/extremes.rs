//! What is greatest, least, first or last.

use crate::Accumulate;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

/// The greatest of what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Max<T>(pub Option<T>);

/// The least of what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Min<T>(pub Option<T>);

impl<T> Default for Max<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for Min<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// NaN is neither: it is left out by being unequal to itself.
#[inline]
fn is_ordered<T: PartialOrd>(value: &T) -> bool {
    value.partial_cmp(value).is_some()
}

impl<T: PartialOrd> Max<T> {
    /// Shows it a value.
    #[inline]
    pub fn add(&mut self, value: T) {
        if is_ordered(&value) && self.0.as_ref().is_none_or(|greatest| value > *greatest) {
            self.0 = Some(value);
        }
    }
}

impl<T: PartialOrd> Min<T> {
    /// Shows it a value.
    #[inline]
    pub fn add(&mut self, value: T) {
        if is_ordered(&value) && self.0.as_ref().is_none_or(|least| value < *least) {
            self.0 = Some(value);
        }
    }
}

impl<T: PartialOrd + Serialize + DeserializeOwned> Accumulate for Max<T> {
    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|value| self.add(value));
    }
}

impl<T: PartialOrd + Serialize + DeserializeOwned> Accumulate for Min<T> {
    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|value| self.add(value));
    }
}

/// What was collected at the smallest key, for instance at the log's first step: a smaller one replaces it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct First<K, V>(pub Option<(K, V)>);

/// What was collected at the greatest key.
pub type Last<K, V> = First<Reverse<K>, V>;

impl<K, V> Default for First<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Ord, V: Default> First<K, V> {
    /// The state to add to where no smaller key was seen.
    #[inline]
    pub fn at(&mut self, key: K) -> Option<&mut V> {
        if self.0.as_ref().is_none_or(|(first, _)| key < *first) {
            self.0 = Some((key, V::default()));
            return self.0.as_mut().map(|(_, value)| value);
        }
        self.0.as_mut().and_then(|(first, value)| (key == *first).then_some(value))
    }

    /// What was collected there.
    #[must_use]
    pub fn get(&self) -> Option<&V> {
        self.0.as_ref().map(|(_, value)| value)
    }
}

impl<K, V> Accumulate for First<K, V>
where
    K: Ord + Serialize + DeserializeOwned,
    V: Accumulate,
{
    fn merge(&mut self, other: Self) {
        let Some((key, value)) = other.0 else { return };
        match self.0.as_mut() {
            None => self.0 = Some((key, value)),
            Some((first, mine)) => match key.cmp(first) {
                Ordering::Less => self.0 = Some((key, value)),
                Ordering::Equal => mine.merge(value),
                Ordering::Greater => {}
            },
        }
    }

    fn settle(&mut self) {
        if let Some((_, value)) = self.0.as_mut() {
            value.settle();
        }
    }
}

/// The `N` greatest items; two that are equal count once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de> + Ord"))]
pub struct TopK<T, const N: usize>(BTreeSet<T>);

impl<T, const N: usize> Default for TopK<T, N> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord, const N: usize> TopK<T, N> {
    /// Shows it an item.
    pub fn add(&mut self, item: T) {
        if self.0.len() >= N && self.0.first().is_none_or(|least| item < *least) {
            return;
        }
        self.0.insert(item);
        if self.0.len() > N {
            self.0.pop_first();
        }
    }

    /// The items, the greatest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().rev()
    }
}

impl<T: Ord + Serialize + DeserializeOwned, const N: usize> Accumulate for TopK<T, N> {
    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|item| self.add(item));
    }
}
