//! The tallies of all batches a worker has seen.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::entropy_histogram::level_for;
use super::tally::{BatchKey, BatchTally};
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;

/// What a batch takes to the end of an analysis, and a step beside its batches, as it was measured on
/// 50,000 of either: tallies, what the diagnosis looks at, rows of the result.
const BATCH_BYTES: u64 = 7_000;
const STEP_BYTES: u64 = 13_000;

/// The batches that any worker has seen: how many there are decides how fine histograms can be.
#[derive(Debug)]
pub struct BatchRegistry {
    seen: Mutex<SeenKeys>,
    level: AtomicU32,
    limits: Limits,
}

#[derive(Debug, Default)]
struct SeenKeys {
    batches: HashSet<BatchKey>,
    steps: HashSet<i64>,
}

impl BatchRegistry {
    /// No batches, and no more than memory is for.
    pub fn new(limits: Limits) -> Self {
        Self { seen: Mutex::default(), level: AtomicU32::new(0), limits }
    }

    /// The level of all histograms for the batches seen so far.
    pub fn level(&self) -> u32 {
        self.level.load(Ordering::Relaxed)
    }

    fn enter(&self, key: BatchKey) -> Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        seen.batches.insert(key);
        seen.steps.insert(key.step);
        let (batches, steps) = (seen.batches.len(), seen.steps.len());
        self.level.fetch_max(level_for(batches), Ordering::Relaxed);
        let bytes = batches as u64 * BATCH_BYTES + steps as u64 * STEP_BYTES;
        match self.limits.too_many_steps(steps, bytes) {
            // The file is known to those who scan.
            Some(message) => Err(Error::TooLarge { path: Default::default(), place: String::new(), message }),
            None => Ok(()),
        }
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
    pub fn number_of(&mut self, key: BatchKey, registry: &BatchRegistry) -> Result<usize> {
        if let Some((last, number)) = self.last
            && last == key
        {
            return Ok(number);
        }
        let number = match self.index.get(&key) {
            Some(number) => *number,
            None => self.insert(key, registry)?,
        };
        self.last = Some((key, number));
        Ok(number)
    }

    fn insert(&mut self, key: BatchKey, registry: &BatchRegistry) -> Result<usize> {
        let number = self.entries.len();
        registry.enter(key)?;
        self.coarsen(registry.level());
        self.index.insert(key, number);
        self.entries.push((key, BatchTally::new(self.level)));
        Ok(number)
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
