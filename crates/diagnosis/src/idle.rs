//! Steps that teach nothing: no token has an advantage beyond what rounding leaves.

use std::collections::BTreeSet;

use stapo_collect::collect::signs::response_facts::ResponseFacts;
use stapo_result::StepRow;

/// The steps without an advantage.
#[derive(Debug, Default)]
pub struct IdleSteps(BTreeSet<i64>);

impl IdleSteps {
    /// Those of a run.
    pub fn of(steps: &[StepRow], facts: &ResponseFacts) -> Self {
        let responses = facts.responses.chunk_by(|a, b| a.step == b.step);
        let teaches = responses.filter(|step| step.iter().any(|fact| fact.signs != [false; 2]));
        let teaching: BTreeSet<i64> = teaches.map(|step| step[0].step).collect();
        let is_idle = |row: &&StepRow| {
            // Where groups are not logged, all responses must have been kept to say so.
            let all_kept = facts.level == 0 && row.groups.is_none_or(|groups| groups == 0);
            !row.teaches() || all_kept && !teaching.contains(&row.step)
        };
        Self(steps.iter().filter(is_idle).map(|row| row.step).collect())
    }

    /// Whether a step teaches nothing.
    pub fn contains(&self, step: i64) -> bool {
        self.0.contains(&step)
    }

    /// Whether no step of these teaches anything.
    pub fn are_all(&self, steps: &[StepRow]) -> bool {
        !steps.is_empty() && steps.iter().all(|row| self.contains(row.step))
    }
}
