//! Entropies of a batch, kept while the run is small enough for exact quantiles.

use std::sync::atomic::{AtomicU64, Ordering};

use super::pieces::Pieces;

/// Counts entropies over all workers and closes when there are too many to keep.
#[derive(Debug)]
pub struct KeptGate {
    seen: AtomicU64,
    limit: u64,
}

impl KeptGate {
    /// A gate for at most `limit` entropies.
    pub fn new(limit: u64) -> Self {
        Self { seen: AtomicU64::new(0), limit }
    }

    /// Keeps none where another part of the same run has too many already.
    pub fn follow(&self, known: &KeptCount) {
        if !known.is_open() {
            self.seen.fetch_max(self.limit + 1, Ordering::Relaxed);
        }
    }

    /// Counts `more` entropies; whether they may be kept.
    pub fn admit(&self, more: usize) -> bool {
        self.seen.fetch_add(more as u64, Ordering::Relaxed) + more as u64 <= self.limit
    }

    /// Entropies counted so far; no longer exact once there are too many.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Whether all entropies were kept.
    pub fn is_open(&self) -> bool {
        self.seen() <= self.limit
    }
}

/// How many values were counted at a gate, as a part of the run knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeptCount {
    seen: u64,
    limit: u64,
}

impl KeptCount {
    /// What a gate counted. Once there are too many, workers no longer count alike.
    pub fn of(gate: &KeptGate) -> Self {
        Self { seen: gate.seen().min(gate.limit + 1), limit: gate.limit }
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: Self) {
        self.seen = (self.seen + other.seen).min(self.limit + 1);
    }

    /// Whether all values were kept.
    pub fn is_open(&self) -> bool {
        self.seen <= self.limit
    }

    /// Values counted; exact while all were kept.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether it counts up to the limit of `other`.
    pub fn fits(&self, other: &KeptGate) -> bool {
        self.limit == other.limit && self.seen <= self.limit + 1
    }
}

/// The entropies of one batch by whether A > 0.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct KeptEntropies {
    positive: Pieces<f32>,
    others: Pieces<f32>,
}

impl KeptEntropies {
    /// Keeps the entropies of a response.
    pub fn add(&mut self, entropies: &[f32], advantages: &[f32]) {
        let positive = |a: &f32| *a > 0.0;
        if !advantages.iter().any(positive) {
            self.others.extend_from_slice(entropies);
        } else if advantages.iter().all(positive) {
            self.positive.extend_from_slice(entropies);
        } else {
            for (entropy, advantage) in entropies.iter().zip(advantages) {
                let into = if positive(advantage) { &mut self.positive } else { &mut self.others };
                into.push(*entropy);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.positive.sort_by(f32::total_cmp);
        self.others.sort_by(f32::total_cmp);
    }

    /// Adds another part of the batch.
    pub fn merge(&mut self, other: Self) {
        self.positive.append(other.positive);
        self.others.append(other.others);
    }

    /// The entropies of tokens with A > 0.
    pub fn positive(&self) -> impl Iterator<Item = &f32> {
        self.positive.iter()
    }

    /// All entropies.
    pub fn all(&self) -> impl Iterator<Item = &f32> {
        self.positive.iter().chain(self.others.iter())
    }
}
