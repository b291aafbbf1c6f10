//! The tallies of all batches a worker has seen.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::entropy_histogram::level_for;
use super::tally::{BatchKey, BatchTally};

/// The batches that any worker has seen: how many there are decides how fine histograms can be.
#[derive(Debug, Default)]
pub struct BatchRegistry {
    seen: Mutex<HashSet<BatchKey>>,
    level: AtomicU32,
}

impl BatchRegistry {
    /// The level of all histograms for the batches seen so far.
    pub fn level(&self) -> u32 {
        self.level.load(Ordering::Relaxed)
    }

    fn enter(&self, key: BatchKey) {
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        seen.insert(key);
        self.level.fetch_max(level_for(seen.len()), Ordering::Relaxed);
    }
}

/// Batches, ascending.
pub type Batches = Vec<(BatchKey, BatchTally)>;

/// Tallies by batch.
#[derive(Debug, Default)]
pub struct BatchTable {
    index: HashMap<BatchKey, usize>,
    entries: Vec<(BatchKey, BatchTally)>,
    level: u32,
    last: Option<(BatchKey, usize)>,
}

impl BatchTable {
    /// The number of the batch `key` in this table.
    pub fn number_of(&mut self, key: BatchKey, registry: &BatchRegistry) -> usize {
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let number = match self.index.get(&key) {
            Some(number) => *number,
            None => self.insert(key, registry),
        };
        self.last = Some((key, number));
        number
    }

    fn insert(&mut self, key: BatchKey, registry: &BatchRegistry) -> usize {
        let number = self.entries.len();
        registry.enter(key);
        self.coarsen(registry.level());
        self.index.insert(key, number);
        self.entries.push((key, BatchTally::new(self.level)));
        number
    }

    /// Brings all histograms to `level`, if they are finer.
    pub fn coarsen(&mut self, level: u32) {
        if level > self.level {
            self.level = level;
            self.entries.iter_mut().for_each(|(_, tally)| tally.histogram.coarsen(level));
        }
    }

    /// The tally of a batch.
    pub fn tally(&mut self, number: usize) -> &mut BatchTally {
        &mut self.entries[number].1
    }

    /// The keys of all batches, by number.
    pub fn keys(&self) -> Vec<BatchKey> {
        self.entries.iter().map(|(key, _)| *key).collect()
    }

    /// Forgets all kept entropies.
    pub fn forget_entropies(&mut self) {
        self.entries.iter_mut().for_each(|(_, tally)| tally.kept.clear());
    }

    /// Merges the tables of all workers: batches ascending, all histograms of one level.
    pub fn merge(tables: impl IntoIterator<Item = Self>) -> Batches {
        Self::merge_entries(tables.into_iter().flat_map(|table| table.entries).collect())
    }

    /// Merges parts of batches.
    pub fn merge_entries(mut entries: Batches) -> Batches {
        entries.sort_by_key(|(key, _)| *key);
        let mut merged: Batches = Vec::new();
        for (key, tally) in entries {
            match merged.last_mut().filter(|(last, _)| *last == key) {
                Some((_, into)) => into.merge(tally),
                None => merged.push((key, tally)),
            }
        }
        let level = level_for(merged.len());
        merged.iter_mut().for_each(|(_, tally)| tally.histogram.coarsen(level));
        merged
    }
}
