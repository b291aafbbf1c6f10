//! Whether the reward still pays for something: its slope within groups.

use super::same_prompts::quantity;
use crate::responses::told_reward::lost_from;
use crate::responses::within_groups::Slopes;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_result::SignalName;

/// Standard errors of the slope.
const ERRORS: f64 = 3.0;

/// Whether the reward follows a signal within groups (within steps, where there are no siblings) from a step on.
/// Where too few responses differ in it, nothing speaks against that. A reward that what is logged said before, and does not
/// say from there on, no longer pays for what it did.
pub fn is_paid(facts: &ResponseFacts, parts: &[String], signal: &SignalName, from: i64) -> bool {
    let Some(of) = quantity(signal, parts) else { return true };
    if lost_from(facts, parts.len(), from).is_some() {
        return false;
    }
    let units = facts.units().filter(|unit| unit[0].step >= from);
    // The signal on the reward, not the reward on it: groups whose rewards are all the same count, too.
    let target = |fact: &ResponseFact| of(fact).unwrap_or(f64::NAN);
    let Some(slopes) = Slopes::of(units, &target, &[&|fact| f64::from(fact.reward)]) else { return true };
    slopes.sum(&[(0, 1.0)]).is_some_and(|[slope, error]| slope > ERRORS * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten groups a step of right and wrong answers; the reward pays for them before step 2.
    fn facts(alone: bool, last: impl Fn(f32) -> f32) -> ResponseFacts {
        let fact = |step: i64, place: u64| {
            let answer = (place % 2) as f32;
            let reward = if step < 2 { answer } else { last(answer) };
            let group = if alone { place } else { place / 4 };
            ResponseFact { step, group, reward, parts: [answer].into(), ..ResponseFact::default() }
        };
        let responses = (0..4).flat_map(|step| (0..40).map(move |place| fact(step, place))).collect();
        ResponseFacts { responses, ..ResponseFacts::default() }
    }

    #[test]
    fn a_reward_that_is_the_same_for_all_pays_for_nothing() {
        let parts = ["answer".to_owned()];
        for alone in [false, true] {
            let paid = |last: fn(f32) -> f32, from| {
                is_paid(&facts(alone, last), &parts, &SignalName::part("answer"), from)
            };
            assert!(!paid(|_| 0.0, 2));
            assert!(!paid(|answer| -answer, 2));
            assert!(paid(|answer| 0.1 * answer - 5.0, 2));
            assert!(paid(|_| 0.0, 0), "the first steps are paid");
            assert!(paid(|_| 0.0, 9), "nothing to tell it by");
        }
    }
}
