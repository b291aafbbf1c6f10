//! What the diagnosis is judged by: its evidence, and the values that the state of the run rests on.

use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;
use stapo_evidence::Evidence;
use stapo_evidence::series::{Form, Observed};

/// The name of the series of right responses, where the user says what is right.
pub const PASS_RATE: &str = "pass_rate";

/// Sums that merge over shards in any order.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Diagnostics {
    /// What causes are looked for in.
    pub evidence: Evidence,
    /// Reward, its parts and right answers by group.
    pub trained: Observed,
    /// The same of rows that are held out.
    pub held_out: Observed,
}

impl Diagnostics {
    /// Nothing yet, for a run with these parts of the reward.
    pub fn new(plan: &Plan) -> Self {
        let mut names = vec!["reward".to_owned()];
        names.extend(plan.questions.pass.iter().map(|_| PASS_RATE.to_owned()));
        names.extend(plan.reward_parts.iter().cloned());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let parts = plan.reward_parts.clone();
        Self {
            evidence: Evidence::new(parts),
            trained: Observed::new(Form::Responses, &names),
            held_out: Observed::new(Form::Responses, &names),
        }
    }

    /// Gives scan units other numbers.
    pub fn renumber(&mut self, unit: impl Fn(u32) -> u32) {
        self.evidence.rewards.renumber(unit);
    }
}
