//! Measures of a run: each computed once, when a cause first asks for it, from the evidence alone.

pub mod advantages;
pub mod asked;
pub mod copies;
mod groups;
pub mod held_out;
pub mod of_rewards;
pub mod right;
pub mod trained;

use self::of_rewards::OfRewards;
use crate::{Need, Outcome};
use stapo_evidence::Evidence;

/// What causes read.
#[derive(Debug)]
pub struct Measures<'a> {
    /// The sums behind the measures.
    pub evidence: &'a Evidence,
    /// What became of the run.
    pub outcome: &'a Outcome,
    of_rewards: OfRewards,
}

impl<'a> Measures<'a> {
    /// Of a run with this outcome.
    #[must_use]
    pub fn new(evidence: &'a Evidence, outcome: &'a Outcome) -> Self {
        Self { evidence, outcome, of_rewards: OfRewards::default() }
    }

    /// Whether the log holds what a cause needs.
    #[must_use]
    pub fn meets(&self, need: Need) -> bool {
        let logged = &self.evidence.logged;
        match need {
            Need::Column(column) => logged.has(column),
            Need::Steps(steps) => {
                logged.steps().is_some_and(|(first, last)| last.abs_diff(first) + 1 >= steps as u64)
            }
            Need::Updates(updates) => logged.last_update() + 1 >= updates,
            Need::Claims => self.outcome.spurious.is_some(),
        }
    }
}
