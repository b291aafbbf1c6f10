//! Responses that appear in more than one step: some trainers log a buffer again and again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;

/// Most responses that are remembered; beyond it a fair sample is.
const MOST: usize = 1 << 20;

/// Hashes of responses with the steps they were seen in. When there are too many, only hashes
/// that end in `level` zero bits are kept: a sample that does not depend on order.
#[derive(Clone, Debug, Default)]
pub struct Duplicates {
    level: u32,
    seen: HashMap<u64, Seen>,
}

#[derive(Clone, Debug)]
struct Seen {
    first_step: i64,
    last_step: i64,
    count: u64,
}

impl Duplicates {
    /// Remembers the responses of a batch.
    pub fn add(&mut self, batch: &TokenBatch) {
        for i in (0..batch.len()).filter(|i| !batch.range(*i).is_empty()) {
            let hash = fingerprint(batch, i);
            let step = batch.responses.step[i];
            self.insert(hash, Seen { first_step: step, last_step: step, count: 1 });
        }
    }

    fn insert(&mut self, hash: u64, seen: Seen) {
        if hash.trailing_zeros() < self.level {
            return;
        }
        self.seen
            .entry(hash)
            .and_modify(|s| {
                s.first_step = s.first_step.min(seen.first_step);
                s.last_step = s.last_step.max(seen.last_step);
                s.count += seen.count;
            })
            .or_insert(seen);
        while self.seen.len() > MOST {
            self.level += 1;
            let level = self.level;
            self.seen.retain(|hash, _| hash.trailing_zeros() >= level);
        }
    }

    /// Adds what another worker saw.
    pub fn merge(&mut self, other: Self) {
        if other.level > self.level {
            self.level = other.level;
            let level = self.level;
            self.seen.retain(|hash, _| hash.trailing_zeros() >= level);
        }
        for (hash, seen) in other.seen {
            self.insert(hash, seen);
        }
    }

    /// Responses looked at, and those of them that repeat one of another step.
    pub fn repeated(&self) -> (u64, u64) {
        let all = self.seen.values().map(|s| s.count).sum();
        let across = self.seen.values().filter(|s| s.first_step != s.last_step);
        (all, across.map(|s| s.count - 1).sum())
    }
}

/// Prompt, tokens and their log-probabilities: equal texts may be sampled twice, equal
/// log-probabilities to the last bit are the same sample.
fn fingerprint(batch: &TokenBatch, i: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    let tokens = batch.range(i);
    if let Some(prompt) = batch.responses.prompt_ids.as_ref().and_then(|p| p[i].as_ref()) {
        prompt[..].hash(&mut hasher);
    }
    if let Some(ids) = batch.token_ids() {
        ids[tokens.clone()].hash(&mut hasher);
    }
    for column in [Column::Logprob, Column::LogprobRollout] {
        if let Some(values) = batch.floats(column) {
            values[tokens.clone()].iter().take(64).for_each(|v| v.to_bits().hash(&mut hasher));
        }
    }
    hasher.finish()
}
