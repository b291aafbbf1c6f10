//! Parts of the reward that belong to one of several tasks and are 0 throughout in the groups of the others: such a
//! part falls where a run's mix of tasks moves, although responses do as before.
//!
//! Statistic: groups in which a part is not 0 somewhere, and groups in which another part is not: two parts of one
//! task are there together in some. Threshold: never together, where chance would bring them together in seven groups
//! (both spread over the groups of each step, so that what one step lost and a later one gained is none): chance
//! leaves none in 1 of 1,000 runs. Groups of four responses or more, since parts that a single response cannot have
//! both of are no tasks. What is left of a part, without the groups of other tasks, must not change for good: groups
//! in which all of them are 0 may be its own, and count.

use std::collections::BTreeSet;

use super::response_series::response_series;
use super::series::Role;
use crate::responses::within_groups::MAX_PARTS;
use stapo_base::stats::sustained::Direction;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_result::SignalName;

/// Responses of a group that tell a task from what one response does.
const FEWEST: usize = 4;
/// Groups that chance would have brought together: e^−7 is 1 of 1,000.
const EXPECTED: f64 = 7.0;

/// Groups by step: which parts are not 0 in each.
struct Presence<'a> {
    groups: Vec<(&'a [ResponseFact], Vec<bool>)>,
}

impl<'a> Presence<'a> {
    fn of(facts: &'a ResponseFacts) -> Self {
        let is_there = |value: &f32| value.is_finite() && *value != 0.0;
        let parts = |group: &'a [ResponseFact]| {
            let has = |part: usize| group.iter().any(|fact| fact.parts.get(part).is_some_and(is_there));
            (group, (0..group[0].parts.len().min(MAX_PARTS)).map(has).collect())
        };
        Self { groups: facts.groups().filter(|group| group.len() >= FEWEST).map(parts).collect() }
    }

    /// Whether two parts are never there together where chance would bring them.
    fn are_tasks(&self, a: usize, b: usize) -> bool {
        let mut expected = 0.0;
        for step in self.groups.chunk_by(|x, y| x.0[0].step == y.0[0].step) {
            let count = |is: &dyn Fn(&[bool]) -> bool| step.iter().filter(|(_, has)| is(has)).count() as f64;
            if count(&|has| has[a] && has[b]) > 0.0 {
                return false;
            }
            expected += count(&|has| has[a]) * count(&|has| has[b]) / step.len() as f64;
        }
        expected >= EXPECTED
    }
}

/// Whether a part changes by the mix of tasks alone.
pub fn by_mix_alone(
    facts: &ResponseFacts,
    (part, signal): (usize, &SignalName),
    direction: Direction,
) -> bool {
    let presence = Presence::of(facts);
    let parts = presence.groups.first().map_or(0, |(_, has)| has.len());
    if part >= parts {
        return false;
    }
    let others: Vec<usize> =
        (0..parts).filter(|other| *other != part && presence.are_tasks(part, *other)).collect();
    if others.is_empty() {
        return false;
    }
    let is_other = |(_, has): &&(&[ResponseFact], Vec<bool>)| others.iter().any(|other| has[*other]);
    let elsewhere: BTreeSet<(i64, u64)> =
        presence.groups.iter().filter(is_other).map(|(group, _)| (group[0].step, group[0].group)).collect();
    let of = |fact: &ResponseFact| {
        let value = fact.parts.get(part).copied().filter(|value| value.is_finite())?;
        (!elsewhere.contains(&(fact.step, fact.group))).then_some(f64::from(value))
    };
    let left = response_series(facts, signal.clone(), Role::Goal, &of, Vec::new());
    left.is_none_or(|left| left.change(direction).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    /// 30 steps of 16 groups of 8: the share of groups of the first task, and of right answers of each.
    fn falls_by_mix(task: impl Fn(f64) -> f64, right: [fn(f64) -> f64; 2], together: bool) -> bool {
        let mut random = Random::new(3, 4);
        let mut responses = Vec::new();
        for step in 0..30 {
            let way = f64::from(step) / 29.0;
            for group in 0..16 {
                let own = usize::from(random.unit() >= task(way));
                for _ in 0..8 {
                    let answer = |random: &mut Random, of: usize| {
                        f32::from(u8::from((together || of == own) && random.unit() < right[of](way)))
                    };
                    let parts = [answer(&mut random, 0), answer(&mut random, 1)];
                    let parts = Box::new(parts);
                    let step = i64::from(step);
                    responses.push(ResponseFact { step, group, parts, ..ResponseFact::default() });
                }
            }
        }
        let facts = ResponseFacts { responses, ..ResponseFacts::default() };
        by_mix_alone(&facts, (0, &SignalName::part("answer")), Direction::Down)
    }

    #[test]
    fn a_part_of_a_task_that_becomes_rare_is_told_from_one_that_is_lost() {
        let learns: fn(f64) -> f64 = |way| 0.2 + 0.6 * way;
        let forgets: fn(f64) -> f64 = |way| 0.8 - 0.7 * way;
        assert!(falls_by_mix(|way| 0.9 - 0.8 * way, [learns, learns], false));
        assert!(!falls_by_mix(|way| 0.9 - 0.8 * way, [forgets, learns], false), "the task is lost");
        assert!(!falls_by_mix(|_| 0.5, [forgets, learns], false), "the mix stands");
        assert!(!falls_by_mix(|way| 0.9 - 0.8 * way, [forgets, learns], true), "one task");
    }

    #[test]
    fn what_a_single_response_cannot_have_both_of_is_no_task() {
        // From a step on, every response refuses instead of answering.
        let fact = |step: i64, i: u64| {
            let refuses = step >= 15;
            let parts = Box::new([f32::from(u8::from(!refuses)), f32::from(u8::from(refuses))]);
            ResponseFact { step, group: i / 8, parts, ..ResponseFact::default() }
        };
        let responses = (0..30).flat_map(|step| (0..128).map(move |i| fact(step, i))).collect();
        let facts = ResponseFacts { responses, ..ResponseFacts::default() };
        assert!(!by_mix_alone(&facts, (0, &SignalName::part("answer")), Direction::Down));
    }
}
