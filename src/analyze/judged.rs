//! From what was collected to a result that is judged. Every way to analyse a run ends here, whether one process reads
//! it, a cache knows some of it, or parts are merged.

use stapo_base::error::Result;
use stapo_collect::collect::Collected;
use stapo_collect::finish::{Finished, Scan};
use stapo_collect::flagged::FlaggedTokens;
use stapo_collect::plan::Plan;
use stapo_compare::Metric;
use stapo_result::{ComparedRun, RunAnalysis, RunCore};

/// Turns what was collected into the result of an analysis.
pub fn analysis(scan: Scan<'_>, plan: Plan, collected: Collected) -> Result<(RunAnalysis, FlaggedTokens)> {
    let finished = Finished::new(scan, plan, collected)?;
    let (core, parts) = rayon::join(|| diagnosed(&finished), || finished.report_parts());
    let (analysis, source, text_ids) = finished.into_analysis(core, parts?);
    Ok((analysis, FlaggedTokens::new(source, text_ids)))
}

/// What every analysis finds, without what only a run's own report shows.
pub fn core(scan: Scan<'_>, plan: Plan, collected: Collected) -> Result<RunCore> {
    Ok(diagnosed(&Finished::new(scan, plan, collected)?))
}

/// Turns what was collected into what a comparison needs.
pub fn compared(scan: Scan<'_>, plan: Plan, mut collected: Collected) -> Result<ComparedRun> {
    let groups = collected.clusters.take().unwrap_or_default();
    let missing = plan.stand_in;
    let in_characters = missing.logprob && !scan.run.spells_tokens();
    let finished = Finished::new(scan, plan, collected)?;
    let (core, mut clusters) = rayon::join(|| diagnosed(&finished), || finished.clusters(groups));
    let two_rewards = finished.collected.rewards.reward.two();
    // 0 stands in place of what is not logged.
    if missing.entropy {
        clusters.groups = clusters.groups.without(Metric::Entropy);
        clusters.plane.clear();
    }
    if in_characters {
        clusters.ids.clear();
    }
    Ok(ComparedRun { core, clusters, two_rewards, in_characters })
}

/// The result with warnings and verdict.
fn diagnosed(finished: &Finished<'_>) -> RunCore {
    let Finished { run, plan, collected, source, .. } = finished;
    let mut core = finished.core();
    stapo_diagnosis::diagnose(run, plan, collected, &source.texts, &mut core);
    core
}
