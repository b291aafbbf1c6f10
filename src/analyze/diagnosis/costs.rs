//! Parts of the reward that are taken off: penalties and counts of errors, which loggers write as positive
//! numbers. They fall in every run that learns.
//!
//! Statistic: the slope of the reward on each of its parts within groups, alone and with the other parts as they
//! are: a part beside the reward may have either, by what else goes along with it.
//! Threshold: both below 0 by three standard errors in both halves of the steps (in the one that can tell,
//! where the other cannot). Both, since a sign that is turned on the way is a fault and not a penalty; and
//! never the part that says whether an answer is right, for the same reason. A part whose name says that it is a
//! penalty or counts errors is one, too, unless the reward rises with it: it may be logged beside the reward.

use super::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, part};
use crate::analyze::collect::signs::facts::ResponseFacts;
use crate::analyze::plan::Plan;

const ERRORS: f64 = 3.0;
/// Beginnings of words that name a cost.
const COSTS: [&str; 8] = ["penal", "error", "cost", "violat", "toxic", "overlong", "repet", "mistake"];

/// The places of such parts in the plan's list.
pub fn costs(facts: &ResponseFacts, plan: &Plan) -> Vec<usize> {
    let names = &plan.reward_parts;
    let asked = plan.questions.pass.as_ref().and_then(|rule| rule.part());
    let says_right = |index: usize| {
        plan.questions.right_part == Some(index) || asked.is_some_and(|name| names[index] == name)
    };
    let steps: Vec<i64> = facts.groups().map(|group| group[0].step).collect();
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Vec::new() };
    let middle = first.midpoint(*last);
    let parts = names.len().min(MAX_PARTS);
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
        (below || is_named) && !says_right(*index)
    };
    (0..parts).filter(is_cost).collect()
}

/// The sign of a value that is farther from 0 than `error`, else 0.
fn clear_sign(value: f64, error: f64) -> f64 {
    if value.abs() > error { value.signum() } else { 0.0 }
}

fn says_cost(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| COSTS.iter().any(|start| word.starts_with(start)))
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
            assert!(!says_cost(name), "{name}");
        }
    }
}
