//! Rewards that are missing in a run: its means are of the others alone, which need not be like them.

use super::super::result::{CompareCode, CompareWarning};
use super::warning::warning;
use stapo_base::format::grouped;
use stapo_batch::limits::WARN_SHARE;
use stapo_result::ComparedRun;

/// What to say of each run that lacks some.
pub fn of_rewards(runs: &[(String, &ComparedRun)]) -> Vec<CompareWarning> {
    let gap = |(name, run): &(String, &ComparedRun)| {
        let rewards = run.quality.iter().find(|column| column.column == "reward")?;
        (rewards.missing_share > WARN_SHARE).then(|| {
            warning(
                CompareCode::MissingMetric,
                format!(
                    "{name}: {:.1} % of {} rewards are missing or bad; its rewards are compared by the others alone",
                    100.0 * rewards.missing_share,
                    grouped(rewards.values)
                ),
                "see which responses have none: those that a grader fails for are rarely like the others",
                &[("share of rewards that are missing", rewards.missing_share)],
            )
        })
    };
    runs.iter().filter_map(gap).collect()
}
