//! Sums by group, with the verdict on each group's candidates, for comparisons.

use super::entropies::EntropiesByStep;
use super::flagged::FlaggedSource;
use crate::collect::Collected;
use crate::collect::clusters::{Clusters, cluster_key};
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_result::{FlagKind, RunClusters};

/// Adds candidates to their clusters; thresholds are known only now.
pub fn clusters(
    clusters: Clusters,
    source: &FlaggedSource,
    collected: &Collected,
    plan: &Plan,
) -> Result<RunClusters> {
    let mut entropies = EntropiesByStep::of(collected, plan);
    let found = clusters.finish(|add| {
        source.candidates.for_each(|candidate| {
            let (step, energy) = (candidate.batch.step, candidate.energy[1]);
            entropies.add_candidate(step, candidate.entropy, energy);
            if let Some((_, tau_h)) = source.threshold(candidate) {
                let key = cluster_key(step, &candidate.group, &candidate.sample, candidate.place);
                let silenced = FlaggedSource::kind(candidate, tau_h) == FlagKind::Spurious;
                add(step, key, silenced, energy);
            }
            Ok(())
        })
    })?;
    Ok(RunClusters { entropy_edges: entropies.edges(), entropies: entropies.steps, ..found })
}
