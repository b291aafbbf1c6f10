//! What a grader sets: the reward, or a part of it, and the values that these often have.

use std::collections::{BTreeMap, BTreeSet};

use super::around_step::{FEWEST, GroupsAtStep, groups_of, level, sums};
use crate::patient::Patient;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::SignalName;

/// Values of a quantity that are looked at, the most frequent.
const VALUES: usize = 8;
/// Responses to a value where values are few, and the share of new ones that rare values do not make.
const REPEATED: usize = 10;
const OTHERS: f64 = 0.1;

/// What a grader sets: the reward, or a part of it.
#[derive(Clone, Copy)]
pub struct Graded(pub Option<usize>);

impl Graded {
    /// Its value of a response; NaN where not logged.
    pub fn of(self, fact: &ResponseFact) -> f32 {
        match self.0 {
            None => fact.reward,
            Some(part) => fact.parts.get(part).copied().unwrap_or(f32::NAN),
        }
    }

    /// Its mean over the groups of some steps, and its standard error.
    pub fn level(self, steps: &[GroupsAtStep<'_>]) -> (f64, f64) {
        level(&sums(steps, &|fact| self.of(fact).into()))
    }

    /// The signal that it is.
    pub fn name(self, patient: &Patient<'_>) -> SignalName {
        self.0.map_or(SignalName::Reward, |part| SignalName::part(&patient.plan.reward_parts[part]))
    }
}

/// Whether values are other ones, beside one, than before, where they were few: a scale or a weight that changed.
pub fn are_other_values([before, there]: [&[GroupsAtStep<'_>]; 2], quantity: Graded, beside: f32) -> bool {
    let values = |steps: &[GroupsAtStep<'_>]| -> Vec<u32> {
        let known =
            groups_of(steps).flatten().map(|fact| quantity.of(fact)).filter(|value| value.is_finite());
        known.map(|value| (value + 0.0).to_bits()).collect()
    };
    let (usual, now) = (values(before), values(there));
    let known: BTreeSet<u32> = usual.iter().copied().chain([(beside + 0.0).to_bits()]).collect();
    let new = now.iter().filter(|value| !known.contains(value)).count();
    known.len() * REPEATED <= usual.len() && new as f64 > OTHERS * now.len() as f64
}

/// The values that a failing grader could have set for a share of the responses: those that so many of three steps have.
pub fn frequent(steps: &[GroupsAtStep<'_>], quantity: Graded, share: f64) -> Vec<f32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    let values = groups_of(steps).flatten().map(|fact| quantity.of(fact));
    // No sign before nothing.
    values
        .filter(|value| value.is_finite())
        .for_each(|value| *counts.entry((value + 0.0).to_bits()).or_default() += 1);
    let all: usize = counts.values().sum();
    let least = (share * FEWEST as f64 * all as f64 / steps.len() as f64).max(1.0);
    let mut frequent: Vec<(usize, u32)> =
        counts.into_iter().filter(|(_, n)| *n as f64 >= least).map(|(bits, n)| (n, bits)).collect();
    frequent.sort_unstable_by(|a, b| b.cmp(a));
    frequent.into_iter().take(VALUES).map(|(_, bits)| f32::from_bits(bits)).collect()
}
