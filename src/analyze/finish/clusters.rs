//! Sums by group, with the verdict on each group's candidates.

use super::flagged::FlaggedSource;
use crate::analyze::collect::clusters::{Clusters, cluster_key};
use crate::analyze::result::{FlagKind, RunClusters};
use crate::error::Result;

/// Adds candidates to their clusters; thresholds are known only now.
pub fn clusters(clusters: Clusters, source: &FlaggedSource) -> Result<RunClusters> {
    clusters.finish(|add| {
        source.candidates.for_each(|candidate| {
            if let Some((_, tau_h)) = source.threshold(candidate) {
                let step = candidate.batch.step;
                let key = cluster_key(step, &candidate.group, &candidate.sample, candidate.place);
                let silenced = FlaggedSource::kind(candidate, tau_h) == FlagKind::Spurious;
                add(step, key, silenced, candidate.energy[1]);
            }
            Ok(())
        })
    })
}
