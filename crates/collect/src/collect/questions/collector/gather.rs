//! What all workers collected for these questions becomes one.

use std::collections::BTreeMap;

use super::QuestionCollector;
use crate::collect::kept_entropies::KeptCount;
use crate::collect::questions::breakdown::BreakdownTally;
use crate::collect::questions::clipped_tokens::{ClippedTokens, TokensById};
use crate::collect::questions::siblings::SiblingStore;
use crate::collect::questions::slices::SliceTable;
use crate::collect::questions::step_facts::StepFacts;
use crate::collect::questions::{CollectedQuestions, QuestionGates};

impl QuestionCollector<'_> {
    /// Gathers what all workers collected; `level` is how coarse bins are for the steps of all.
    pub fn gather(parts: Vec<Self>, gates: &QuestionGates, level: u32) -> CollectedQuestions {
        let mut steps: BTreeMap<i64, StepFacts> = BTreeMap::new();
        let mut slices: Vec<SliceTable> = Vec::new();
        let (mut engine, mut reference) = (BreakdownTally::default(), BreakdownTally::default());
        let mut clipped = ClippedTokens::default();
        let (mut stores, mut changed) = (Vec::new(), Vec::new());
        for mut part in parts {
            part.settle(level);
            for (step, facts) in part.steps {
                match steps.get_mut(&step) {
                    Some(into) => into.merge(&facts),
                    None => {
                        steps.insert(step, *facts);
                    }
                }
            }
            if slices.is_empty() {
                slices = part.slices;
            } else {
                slices.iter_mut().zip(&part.slices).for_each(|(a, b)| a.merge(b));
            }
            engine.merge(&part.engine_breakdown.finish());
            reference.merge(&part.reference_breakdown.finish());
            clipped.merge(&part.clipped);
            changed.resize_with(part.changed.len(), TokensById::default);
            changed.iter_mut().zip(&part.changed).for_each(|(a, b)| a.merge(b));
            stores.push(part.siblings);
        }
        CollectedQuestions {
            steps,
            slices,
            engine,
            reference,
            clipped,
            changed,
            siblings: SiblingStore::gather(stores, &gates.groups),
            differences: KeptCount::of(&gates.differences),
        }
    }
}
