//! The reward is what its parts say for some responses and something else for others, and nothing that is logged says
//! for which.
//!
//! Statistic: responses of a step with the same parts, and the reward that most of them have; those with another one.
//! Threshold: a quarter or more have the common reward (a term of many values leaves none: of such responses nothing is said),
//! a tenth or more another one (lower end, 99.9 %), which makes at least a quarter of what rewards differ by within groups (in
//! squares); what is logged of a response explains less than 15 % of who has it, and apart from the parts less than half of by
//! how much it is another one (upper ends). Possible: a term that is not logged may be meant.

use std::collections::BTreeMap;

use crate::causes::shared::alike::{Alike, alike};
use crate::causes::shared::bounds::share_bounds;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::told_reward::OF_RESPONSES;
use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, explained, part};
use crate::words::percent;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const SOME: f64 = 0.1;
const QUARTER: f64 = 0.25;
const SMALL: f64 = 0.15;
const HALF: f64 = 0.5;
/// Responses with the same parts that have a common reward.
const FEWEST: usize = 5;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let parts = patient.plan.reward_parts.len();
    if parts == 0 || parts > MAX_PARTS {
        return None;
    }
    let common = common_rewards(patient, parts);
    let other = |fact: &ResponseFact| {
        let usual = alike(fact, parts).and_then(|alike| common.get(&alike)).copied();
        usual.map_or(f64::NAN, |usual| f64::from(fact.reward) - f64::from(usual))
    };
    let is_other = |fact: &ResponseFact| match other(fact) {
        known if known.is_finite() => f64::from(u8::from(known != 0.0)),
        _ => f64::NAN,
    };
    let known = || patient.signs.facts.responses.iter().filter(|fact| other(fact).is_finite());
    let (hits, tries) = (known().filter(|fact| other(fact) != 0.0).count(), known().count());
    let share = hits as f64 / tries.max(1) as f64;
    if share_bounds(hits as u64, tries as u64)[0] <= SOME {
        return None;
    }
    let of_it = squares_within(patient, &other) / squares_within(patient, &|fact| f64::from(fact.reward));
    let owned: Vec<OwnedFeature> = (0..parts).map(part).collect();
    let mut features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    features.extend(OF_RESPONSES.iter().map(|of| of as Feature<'_>));
    let told = explained(patient.units(), &is_other, &features)?;
    // A term of few values that reads the response says by how much the reward is another one, not whether it is.
    let by_how_much = explained(patient.units(), &other, &features[parts..])?;
    if of_it.is_nan() || of_it < QUARTER || told.upper > SMALL || by_how_much.upper > HALF {
        return None;
    }
    let first = patient.analysis.steps.first().map(|row| row.step);
    Some(found(
        CauseCode::UninformativeReward,
        Confidence::Possible,
        first,
        format!(
            "for {} of the responses the reward is not what the others with the same parts have, and nothing that is \
             logged says for which: {} of what rewards differ by within groups (in squares)",
            percent(share),
            percent(of_it.min(1.0))
        ),
        "see what the reward is made of beside its parts, and log it as a part; if there is nothing else, the grader gives \
         some responses a reward that is not theirs",
        vec![
            number("share of responses with another reward", share),
            number("share of the squared differences of rewards", of_it),
            number("explained share of who has it, upper end", told.upper),
            number("responses", tries as f64),
        ],
    ))
}

/// The reward that most responses with the same parts have, where that is a quarter of them; of equally many the lowest bits.
fn common_rewards(patient: &Patient<'_>, parts: usize) -> BTreeMap<Alike, f32> {
    let mut counts: BTreeMap<Alike, BTreeMap<u32, usize>> = BTreeMap::new();
    for fact in &patient.signs.facts.responses {
        if let Some(alike) = alike(fact, parts) {
            *counts.entry(alike).or_default().entry((fact.reward + 0.0).to_bits()).or_default() += 1;
        }
    }
    let most = |rewards: BTreeMap<u32, usize>| {
        let all: usize = rewards.values().sum();
        let (bits, count) = rewards.into_iter().rev().max_by_key(|(_, count)| *count)?;
        (all >= FEWEST && count as f64 >= QUARTER * all as f64).then(|| f32::from_bits(bits))
    };
    counts.into_iter().filter_map(|(alike, rewards)| Some((alike, most(rewards)?))).collect()
}

/// The sum of squares of a quantity about its mean in each group.
fn squares_within(patient: &Patient<'_>, of: &dyn Fn(&ResponseFact) -> f64) -> f64 {
    let of_group = |group: &[ResponseFact]| {
        let known = || group.iter().map(of).filter(|value| value.is_finite());
        let mean = known().sum::<f64>() / known().count().max(1) as f64;
        known().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    patient.units().map(of_group).sum()
}
