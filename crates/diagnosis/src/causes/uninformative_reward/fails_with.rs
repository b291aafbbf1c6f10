//! The parts of the reward that a grader which fails takes with it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::around_step::{GroupsAtStep, groups_of, level, sums};
use super::graded::Graded;
use stapo_collect::collect::signs::response_facts::ResponseFact;

/// A part of the reward, and the value it has where the grader fails.
pub type FailedPart = (usize, f32);

const ONE_VALUE: f64 = 0.99;
const HALF: f64 = 0.5;

/// The steps on either side of a place.
pub fn next_to<'s, 'a>(steps: &'s [GroupsAtStep<'a>], at: usize) -> [&'s [GroupsAtStep<'a>]; 2] {
    [&steps[at - 1..at], &steps[at..=at]]
}

/// The parts that are one value wherever the value is, each with its own one.
pub fn one_valued(
    there: &[GroupsAtStep<'_>],
    has: &dyn Fn(&ResponseFact) -> f64,
    parts: Range<usize>,
) -> Vec<FailedPart> {
    parts.filter_map(|part| Some((part, one_value(there, has, Graded(Some(part)))?))).collect()
}

/// Those of the parts that are one value wherever the value is that fail with it. Where one does, another fails too if its
/// value became more frequent from one step to the next: the policy may have learned it before.
pub fn fail_too(
    sides: [&[GroupsAtStep<'_>]; 2],
    next: [&[GroupsAtStep<'_>]; 2],
    known: &[FailedPart],
    share: f64,
) -> Vec<FailedPart> {
    let shares = |sides: [&[GroupsAtStep<'_>]; 2], (part, value): (usize, f32)| {
        let has_it = |fact: &ResponseFact| f64::from(u8::from(Graded(Some(part)).of(fact) == value));
        sides.map(|steps| level(&sums(steps, &has_it)).0)
    };
    let is_sure = |part: &(usize, f32)| {
        let [usual, now] = shares(sides, *part);
        now - usual > HALF * share * (1.0 - usual)
    };
    let is_sure_of_one = known.iter().any(is_sure);
    let rises = |part: &(usize, f32)| {
        let [last, now] = shares(next, *part);
        now > last
    };
    known.iter().copied().filter(|part| is_sure(part) || is_sure_of_one && rises(part)).collect()
}

/// The value of a part that nearly all responses with the value have.
fn one_value(there: &[GroupsAtStep<'_>], has: &dyn Fn(&ResponseFact) -> f64, part: Graded) -> Option<f32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    let values = groups_of(there).flatten().filter(|fact| has(fact) == 1.0).map(|fact| part.of(fact) + 0.0);
    values
        .filter(|value| value.is_finite())
        .for_each(|value| *counts.entry(value.to_bits()).or_default() += 1);
    let all: usize = counts.values().sum();
    let (bits, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (most as f64 >= ONE_VALUE * all as f64).then_some(f32::from_bits(bits))
}
