//! What engineers ask beyond the framework, collected in the same pass: the off-policy ledger and
//! corrections, clipping by side, KL to the reference, parts of the reward, cut responses, loops,
//! slices, and whole groups for what only siblings can tell.

mod asked;
pub mod breakdown;
pub mod clipped_tokens;
mod collector;
pub mod corrections;
pub mod difference;
mod difference_bins;
pub mod difference_sums;
pub mod difference_tally;
mod difference_terms;
mod kept_differences;
mod open_response;
mod places;
mod repetition;
pub mod siblings;
pub mod slice_keys;
pub mod slices;
pub mod step_facts;
pub mod token_facts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::asked::Asked;
pub use self::collector::QuestionCollector;
pub use self::open_response::OpenResponse;

use self::breakdown::BreakdownTally;
use self::clipped_tokens::{ClippedTokens, TokensById};
use self::siblings::Siblings;
use self::slices::SliceTable;
use self::step_facts::StepFacts;
use super::kept_entropies::{KeptCount, KeptGate};
use super::sample::SampleGate;
use crate::plan::Questions;

/// What all workers collected of the run, or of a part of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct CollectedQuestions {
    /// By step.
    pub steps: BTreeMap<i64, StepFacts>,
    /// By the values of each dimension.
    pub slices: Vec<SliceTable>,
    /// Where the engine difference sits.
    pub engine: BreakdownTally,
    /// Where the difference to the reference sits.
    pub reference: BreakdownTally,
    /// Which tokens are beyond the clip.
    pub clipped: ClippedTokens,
    /// Tokens whose weight each correction of single tokens changes, by id.
    pub changed: Vec<TokensById>,
    /// Kept groups.
    pub siblings: Siblings,
    differences: KeptCount,
}

impl CollectedQuestions {
    /// Adds another part.
    pub fn merge(&mut self, other: Self) {
        let Self { steps, slices, engine, reference, clipped, changed, siblings, differences } = other;
        self.differences.merge(differences);
        for (step, facts) in steps {
            match self.steps.get_mut(&step) {
                Some(into) => {
                    // Either both are in bins or none is.
                    let mut facts = facts;
                    if !self.differences.is_open() {
                        into.differences().chain(facts.differences()).for_each(|d| d.kept.settle());
                    }
                    into.merge(&facts);
                }
                None => {
                    self.steps.insert(step, facts);
                }
            }
        }
        self.slices.iter_mut().zip(&slices).for_each(|(a, b)| a.merge(b));
        self.engine.merge(&engine);
        self.reference.merge(&reference);
        self.clipped.merge(&clipped);
        self.changed.iter_mut().zip(&changed).for_each(|(a, b)| a.merge(b));
        self.siblings.merge(siblings);
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.steps.values_mut().flat_map(StepFacts::differences).for_each(|d| d.kept.sort());
    }

    /// Puts what is looked at in its order into one; `level` is how coarse bins are for the steps of
    /// all.
    pub fn arrange(&mut self, level: u32) {
        let kept_all = self.differences.is_open();
        for difference in self.steps.values_mut().flat_map(StepFacts::differences) {
            if !kept_all {
                difference.kept.settle();
            }
            difference.kept.coarsen(level);
        }
        self.siblings.settle();
    }

    /// Lets gates keep no more of another part than both together keep.
    pub fn bound(&self, gates: &QuestionGates) {
        gates.differences.follow(&self.differences);
        self.siblings.bound(&gates.groups);
    }

    /// Whether it was collected within the same limits, and its tables are of the right sizes.
    pub fn fits(&self, gates: &QuestionGates, plan: &Questions) -> bool {
        let steps = |facts: &StepFacts| {
            let all = facts.engine.values().chain([&facts.engine_rest, &facts.update, &facts.total]);
            all.into_iter().all(|d| d.kept.fits())
                && (facts.corrections.is_empty() || facts.corrections.len() == plan.corrections.len())
        };
        self.differences.fits(&gates.differences)
            && self.siblings.fits(&gates.groups)
            && self.slices.len() == plan.dimensions.len()
            && self.slices.iter().all(SliceTable::fits)
            && self.steps.values().all(steps)
            && self.changed.len() == plan.corrections.len()
            && self.engine.fits()
            && self.reference.fits()
    }
}

/// What all workers share.
#[derive(Debug)]
pub struct QuestionGates {
    differences: KeptGate,
    groups: SampleGate,
}

impl QuestionGates {
    /// Gates for so many differences and tokens of whole groups.
    pub fn new(differences: u64, group_tokens: u64) -> Self {
        Self { differences: KeptGate::new(differences), groups: SampleGate::new(group_tokens) }
    }
}
