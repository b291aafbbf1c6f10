//! What is known by key, of all keys or, where they are many, of a fair sample of them: which ones are kept
//! hangs on their hash alone, not on order.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use serde::de::DeserializeOwned;

/// Keys that are kept at the most.
const MOST: usize = 1 << 14;

/// Two things known of one key become one, in any order.
pub trait Merge {
    /// Adds what else is known.
    fn merge(&mut self, other: Self);
}

/// Keys are hashes already; their lowest bits, which a table looks at first, are zero in those that are kept.
#[derive(Clone, Copy, Default)]
struct Turned(u64);

impl Hasher for Turned {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Values by the hash of their key; one of 2^level keys is kept.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(bound(serialize = "V: serde::Serialize", deserialize = "V: DeserializeOwned"))]
pub struct FairSample<V> {
    level: u32,
    #[serde(with = "stapo_base::encode::sorted")]
    known: HashMap<u64, V, BuildHasherDefault<Turned>>,
}

impl<V> Default for FairSample<V> {
    fn default() -> Self {
        Self { level: 0, known: HashMap::default() }
    }
}

impl<V: Merge> FairSample<V> {
    /// Whether a key is of the sample, as far as it goes now.
    pub fn takes(&self, key: u64) -> bool {
        key.trailing_zeros() >= self.level
    }

    /// Adds what is known of a key.
    pub fn add(&mut self, key: u64, value: V) {
        if !self.takes(key) {
            return;
        }
        if self.known.is_empty() {
            // A table that grows is copied to new memory again and again.
            self.known.reserve(MOST + 1);
        }
        match self.known.entry(key) {
            Entry::Occupied(mut known) => known.get_mut().merge(value),
            Entry::Vacant(free) => {
                free.insert(value);
            }
        }
        while self.known.len() > MOST {
            self.raise(self.level + 1);
        }
    }

    fn raise(&mut self, level: u32) {
        if level > self.level {
            self.level = level;
            self.known.retain(|key, _| key.trailing_zeros() >= level);
        }
    }

    /// Adds another sample.
    pub fn merge(&mut self, other: Self) {
        self.raise(other.level);
        other.known.into_iter().for_each(|(key, value)| self.add(key, value));
    }

    /// The values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> + Clone {
        self.known.values()
    }

    /// The values, to change.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.known.values_mut()
    }

    /// How many there are of something of which `kept` are in the sample.
    pub fn scaled(&self, kept: u64) -> u64 {
        kept << self.level
    }

    /// Whether every key is kept.
    pub fn is_all(&self) -> bool {
        self.level == 0
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hash, Hasher};

    use super::*;

    fn hashed(i: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        i.hash(&mut hasher);
        hasher.finish()
    }

    impl Merge for u64 {
        fn merge(&mut self, other: Self) {
            *self += other;
        }
    }

    fn sorted(sample: &FairSample<u64>) -> Vec<(u64, u64)> {
        let mut known: Vec<(u64, u64)> = sample.known.iter().map(|(key, value)| (*key, *value)).collect();
        known.sort_unstable();
        known
    }

    #[test]
    fn the_sample_is_the_same_in_any_order_and_split() {
        let keys = || (0..100_000).map(|i| hashed(i % 60_000));
        let of = |keys: &mut dyn Iterator<Item = u64>| {
            let mut sample = FairSample::default();
            keys.for_each(|key| sample.add(key, 1));
            sample
        };
        let whole = of(&mut keys());
        let mut halves = of(&mut keys().skip(1_000));
        halves.merge(of(&mut keys().take(1_000)));
        assert!(!whole.is_all() && whole.known.len() <= MOST);
        assert_eq!(sorted(&whole), sorted(&halves));
        let all = whole.scaled(whole.values().sum());
        assert!((80_000..120_000).contains(&all), "{all}");
    }
}
