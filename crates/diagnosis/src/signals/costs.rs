//! Parts of the reward that are taken off: penalties and counts of errors, which loggers write as positive
//! numbers. They fall in every run that learns. And parts that are not paid at all.
//!
//! Statistic: the slope of the reward on each of its parts within groups, alone and with the other parts as they
//! are: a part beside the reward may have either, by what else goes along with it.
//! Threshold: both below 0 by three standard errors in both halves of the steps (in the one that can tell,
//! where the other cannot). Both, since a sign that is turned on the way is a fault and not a penalty; and
//! never the part that says whether an answer is right, for the same reason. A part whose name says that it is a
//! penalty or counts errors is one, too, unless the reward rises with it: it may be logged beside the reward.

use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, explained, part};
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_collect::plan::Plan;

const ERRORS: f64 = 3.0;
/// A part that moves less than this share of the reward's variance within groups has no weight: single
/// precision leaves far less.
const WEIGHT: f64 = 1e-6;
/// Beginnings of words that name a bonus for what is new: it wears off, whatever responses do.
const BONUSES: [&str; 4] = ["novel", "curio", "explor", "intrinsic"];
/// Beginnings of words that name a distance from the reference: it grows in every run that learns.
const DISTANCES: [&str; 2] = ["kl", "diverg"];
/// Beginnings of words that name a cost.
const COSTS: [&str; 8] = ["penal", "error", "cost", "violat", "toxic", "overlong", "repet", "mistake"];

/// The places of such parts in the plan's list.
pub fn costs(facts: &ResponseFacts, plan: &Plan) -> Vec<usize> {
    let names = &plan.reward_parts;
    let steps: Vec<i64> = facts.groups().map(|group| group[0].step).collect();
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Vec::new() };
    let middle = first.midpoint(*last);
    let parts = names.len().min(MAX_PARTS);
    if parts == 0 {
        return Vec::new();
    }
    let owned: Vec<OwnedFeature> = (0..parts).map(part).collect();
    let features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    let of = |late: bool, features: &[Feature<'_>]| {
        let groups = facts.groups().filter(|group| (group[0].step > middle) == late);
        Slopes::of(groups, &|fact| f64::from(fact.reward), features)
    };
    let together = [false, true].map(|late| of(late, &features));
    let is_cost = |index: &usize| {
        let alone = [false, true].map(|late| of(late, &features[*index..=*index])?.sum(&[(0, 1.0)]));
        let among = together.each_ref().map(|slopes| slopes.as_ref()?.sum(&[(*index, 1.0)]));
        let slopes = alone.into_iter().chain(among).flatten();
        let signs: Vec<f64> = slopes.map(|[slope, error]| clear_sign(slope, ERRORS * error)).collect();
        let below = !signs.is_empty() && signs.iter().all(|sign| *sign < 0.0);
        let is_named = says_cost(&names[*index]) && !signs.iter().any(|sign| *sign > 0.0);
        (below || is_named) && !says_right(plan, *index)
    };
    (0..parts).filter(is_cost).collect()
}

/// Parts that are logged beside the reward and have no weight in it, such as counts of what the policy did: the
/// other parts make up all of the reward within groups, in which this one differs. What a change of such a part
/// means is not known.
pub fn unpaid(facts: &ResponseFacts, plan: &Plan) -> Vec<usize> {
    let parts = plan.reward_parts.len().min(MAX_PARTS);
    if parts == 0 {
        return Vec::new();
    }
    let owned: Vec<OwnedFeature> = (0..parts).map(part).collect();
    let features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    let reward = |fact: &ResponseFact| f64::from(fact.reward);
    let Some(slopes) = Slopes::of(facts.groups(), &reward, &features) else { return Vec::new() };
    let is_unpaid = |index: &usize| {
        let others: Vec<Feature<'_>> =
            (0..parts).filter(|other| other != index).map(|other| features[other]).collect();
        let differs = slopes.sum(&[(*index, 1.0)]).is_some();
        let made_of_others =
            || explained(facts.groups(), &reward, &others).is_some_and(|e| e.share > 1.0 - WEIGHT);
        differs && !says_right(plan, *index) && made_of_others()
    };
    (0..parts).filter(is_unpaid).collect()
}

/// Whether a part says what is right.
pub fn says_right(plan: &Plan, index: usize) -> bool {
    let asked = plan.questions.pass.as_ref().and_then(|rule| rule.part());
    plan.questions.right_part == Some(index) || asked.is_some_and(|name| plan.reward_parts[index] == name)
}

/// The sign of a value that is farther from 0 than `error`, else 0.
fn clear_sign(value: f64, error: f64) -> f64 {
    if value.abs() > error { value.signum() } else { 0.0 }
}

fn says_cost(name: &str) -> bool {
    has_word(name, &COSTS)
}

/// Whether the name of a part says that it pays for what is new.
pub fn wears_off(name: &str) -> bool {
    has_word(name, &BONUSES)
}

/// Whether the name of a part says that it measures how far the policy is from its reference.
pub fn measures_distance(name: &str) -> bool {
    has_word(name, &DISTANCES)
}

/// Whether a word of a name has one of these beginnings.
fn has_word(name: &str, beginnings: &[&str]) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| beginnings.iter().any(|start| word.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_costs_are_told_by_their_words() {
        for name in ["length_penalty", "num_errors", "Overlong", "repetition_penalty", "cost"] {
            assert!(says_cost(name), "{name}");
        }
        for name in ["answer", "format", "terror_free", "accosted"] {
            assert!(!says_cost(name) && !wears_off(name), "{name}");
        }
        for name in ["kl", "kl_reward", "KL-penalty", "ref.kld", "divergence"] {
            assert!(measures_distance(name), "{name}");
        }
        assert!(!measures_distance("weekly") && !measures_distance("ankle"));
        assert!(wears_off("count_novelty") && wears_off("exploration_bonus"));
    }
}
