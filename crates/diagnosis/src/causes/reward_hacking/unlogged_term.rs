//! The reward is what its parts say up to a step, and from there on pays for length beside them.
//!
//! Statistic: steps in which responses with the same parts have the same reward, and those in which they do not; from the
//! first of the latter on, the share of the reward within groups that parts alone and parts with length explain.
//! Threshold: all steps before are of one kind and all from there on of the other, two or more of each, which no chance
//! does; parts leave a hundredth or more of the reward from there on, of which length explains nine tenths, and longer is
//! better by three standard errors. Possible: the term may be meant, and what is right may be paid for more.

use std::collections::BTreeMap;

use crate::causes::shared::alike::alike;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, explained, part};
use crate::words::percent;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const NOTICED: f64 = 0.01;
const NEARLY_ALL: f64 = 0.9;
const ERRORS: f64 = 3.0;
const FEWEST_STEPS: usize = 2;
/// Responses of a step that have the parts of another one.
const FEWEST_ALIKE: usize = 20;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let parts = patient.plan.reward_parts.len();
    if parts == 0 || parts > MAX_PARTS {
        return None;
    }
    let from = first_untold_step(&patient.signs.facts.responses, parts)?;
    let owned: Vec<OwnedFeature> = (0..parts).map(part).collect();
    let length = |fact: &ResponseFact| f64::from(fact.length);
    let mut features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    let reward = |fact: &ResponseFact| f64::from(fact.reward);
    let late = || patient.groups().filter(|group| group[0].step >= from);
    let by_parts = explained(late(), &reward, &features)?;
    features.push(&length);
    let with_length = explained(late(), &reward, &features)?;
    let [slope, error] = Slopes::of(late(), &reward, &features)?.sum(&[(parts, 1.0)])?;
    let left = 1.0 - by_parts.share;
    let by_length = (with_length.share - by_parts.share) / left;
    if left < NOTICED || by_length < NEARLY_ALL || slope < ERRORS * error {
        return None;
    }
    Some(found(
        CauseCode::RewardHacking,
        Confidence::Possible,
        Some(from),
        format!(
            "before step {from} the reward is what its parts say; from there on length explains {} of the rest: longer is \
             better, by a term that is not logged",
            percent(by_length)
        ),
        "see what was added to the reward there, and whether it is meant to pay for length; log every term as reward/<name>",
        vec![
            number("share of the reward within groups that its parts leave", left),
            number("share of the rest that length explains", by_length),
            number("what 100 tokens more add to the reward", 100.0 * slope),
            number("responses", with_length.responses),
        ],
    ))
}

/// The first of the steps in which equal parts have different rewards, where all before it have equal ones and none from it on.
fn first_untold_step(facts: &[ResponseFact], parts: usize) -> Option<i64> {
    let mut rewards: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for fact in facts {
        if let Some(alike) = alike(fact, parts) {
            rewards.entry(alike).or_default().push((fact.reward + 0.0).to_bits());
        }
    }
    // Responses with the parts of another one, and whether all of these have one reward.
    let mut steps: BTreeMap<i64, (usize, bool)> = BTreeMap::new();
    for ((step, _), rewards) in rewards {
        let (repeated, told) = steps.entry(step).or_insert((0, true));
        *repeated += rewards.len() - 1;
        *told &= rewards.iter().all(|reward| *reward == rewards[0]);
    }
    let known: Vec<(i64, bool)> = steps
        .into_iter()
        .filter(|(_, (n, _))| *n >= FEWEST_ALIKE)
        .map(|(step, (_, told))| (step, told))
        .collect();
    let before = known.iter().take_while(|(_, told)| *told).count();
    let after = known[before..].iter().filter(|(_, told)| !told).count();
    let is_one_change = before + after == known.len() && before.min(after) >= FEWEST_STEPS;
    is_one_change.then(|| known[before].0)
}
