//! What the reward is made of: the parts that add up to it within groups.

use crate::causes::shared::lasting::Side;
use crate::patient::Patient;
use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, explained, part};
use stapo_collect::collect::signs::response_facts::ResponseFact;

/// Parts that explain this share of the reward make it up: single precision leaves less than the rest.
const ALL: f64 = 0.999;
/// A part without which this share of the reward is lost has a weight.
const WEIGHT: f64 = 1e-3;

/// The parts that the reward is made of in some steps; empty where they do not add up to it.
pub fn components(patient: &Patient<'_>, side: Side) -> Vec<usize> {
    let parts: Vec<usize> = (0..patient.plan.reward_parts.len().min(MAX_PARTS)).collect();
    let share = |of: &[usize]| {
        let owned: Vec<OwnedFeature> = of.iter().map(|index| part(*index)).collect();
        let features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
        let reward = |fact: &ResponseFact| f64::from(fact.reward);
        explained(side.units(patient), &reward, &features).map_or(0.0, |e| e.share)
    };
    if parts.is_empty() || share(&parts) < ALL {
        return Vec::new();
    }
    let without = |index: &usize| -> Vec<usize> { parts.iter().copied().filter(|p| p != index).collect() };
    parts.iter().copied().filter(|index| share(&without(index)) < 1.0 - WEIGHT).collect()
}
