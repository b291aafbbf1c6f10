//! How the responses of a step become mini-batches, and in which order they come.

use std::collections::BTreeMap;

use super::response::LoggedResponse;
use stapo_base::stats::random::{draw, seed_of};

/// Responses of a mini-batch where neither the user nor the log says.
pub const MINIBATCH: u64 = 64;

/// Indices into `responses` of each mini-batch, numbered in the log's order. `size` cuts the step
/// evenly; else the log's own mini-batches are taken, where every response has one.
#[must_use]
pub fn minibatches(responses: &[LoggedResponse], size: Option<u64>) -> Vec<Vec<usize>> {
    minibatch_members(&responses.iter().map(|r| r.update).collect::<Vec<_>>(), size)
}

/// The same, from the log's own mini-batch of each response.
#[must_use]
pub fn minibatch_members(updates: &[Option<i64>], size: Option<u64>) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..updates.len()).collect();
    let size = match size {
        Some(size) => size,
        None if updates.iter().all(Option::is_some) => {
            let mut by_update: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
            for (i, update) in updates.iter().enumerate() {
                by_update.entry(update.unwrap_or_default()).or_default().push(i);
            }
            return by_update.into_values().collect();
        }
        None => MINIBATCH,
    };
    let size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
    all.chunks(size).map(<[usize]>::to_vec).collect()
}

/// The order of a step's mini-batches: as logged, or by the seed, anew in every epoch.
#[must_use]
pub fn order(count: usize, shuffle: bool, seed: u64, step: i64, epoch: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if shuffle {
        draw(seed_of(&[seed, 1, step.cast_unsigned(), epoch]), &mut order, count);
    }
    order
}
