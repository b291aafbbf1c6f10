//! What gathering and merging states do alike.

use crate::collect::batches::Batches;
use crate::collect::clusters::Clusters;
use crate::collect::kept_entropies::KeptCount;
use crate::collect::tally::BatchKey;

/// Drops the entropies that were kept one by one, where there are too many of them.
pub fn forget_too_many_entropies(kept: &KeptCount, batches: &mut Batches) {
    if !kept.is_open() {
        batches.iter_mut().for_each(|(_, tally)| tally.kept.clear());
    }
}

/// Adds sums by group, where there are any.
pub fn add_clusters(into: &mut Option<Clusters>, other: Option<Clusters>) {
    match (into.as_mut(), other) {
        (Some(into), Some(other)) => into.merge(other),
        (None, other) => *into = other,
        (Some(_), None) => {}
    }
}

/// The numbers that batches have in the table of all.
pub fn numbers(batches: &Batches, keys: &[BatchKey]) -> Vec<u32> {
    keys.iter().map(|key| batches.partition_point(|(known, _)| known < key) as u32).collect()
}
