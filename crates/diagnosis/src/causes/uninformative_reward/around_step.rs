//! The groups of the steps before a step and from it on: levels of a quantity, and whether responses are what they were.

use std::ops::Range;

use crate::patient::Patient;
use crate::responses::told_reward::OF_RESPONSES;
use stapo_collect::collect::signs::response_facts::ResponseFact;

const ERRORS: f64 = 3.0;
/// Changes below this part of a single response's deviation are no other responses: weights move on between any two steps.
const NOTICED: f64 = 0.2;
/// Steps on either side at the least and at the most.
pub const FEWEST: usize = 3;
const MOST: usize = 10;
/// Groups that a standard error needs.
pub const ENOUGH: usize = 20;

/// The groups of a step.
pub struct GroupsAtStep<'a> {
    /// The step.
    pub step: i64,
    /// Its groups.
    pub groups: Vec<&'a [ResponseFact]>,
}

/// The groups of a run by step.
pub fn by_step<'a>(patient: &Patient<'a>) -> Vec<GroupsAtStep<'a>> {
    let mut groups: Vec<&[ResponseFact]> = patient.groups().collect();
    groups.sort_by_key(|group| group[0].step);
    let of_steps = groups.chunk_by(|a, b| a[0].step == b[0].step);
    of_steps.map(|of| GroupsAtStep { step: of[0][0].step, groups: of.to_vec() }).collect()
}

/// The groups of some steps.
pub fn groups_of<'s, 'a>(
    steps: &'s [GroupsAtStep<'a>],
) -> impl Iterator<Item = &'a [ResponseFact]> + Clone + 's {
    steps.iter().flat_map(|step| step.groups.iter().copied())
}

/// The places on either side of one that are held against each other: as few as have enough groups, since weights move
/// on, none of them outside of `within`.
pub fn near(steps: &[GroupsAtStep<'_>], at: usize, within: &Range<usize>) -> Option<[Range<usize>; 2]> {
    let sides =
        |reach: usize| [at.saturating_sub(reach).max(within.start)..at, at..(at + reach).min(within.end)];
    let is_enough = |places: &Range<usize>| {
        steps[places.clone()].iter().map(|step| step.groups.len()).sum::<usize>() >= ENOUGH
    };
    let sides = (FEWEST..=MOST).map(sides).find(|sides| sides.iter().all(is_enough))?;
    Some(sides).filter(|sides| sides.iter().all(|side| side.len() >= FEWEST))
}

/// Number, sum and squares of the means of each step's groups.
pub type Sums = [f64; 3];

/// These of a quantity, by step.
pub fn sums(steps: &[GroupsAtStep<'_>], of: &dyn Fn(&ResponseFact) -> f64) -> Vec<Sums> {
    let mean_of = |group: &[ResponseFact]| {
        let known = group.iter().map(of).filter(|value| value.is_finite());
        let [n, sum] = known.fold([0.0; 2], |[n, sum], value| [n + 1.0, sum + value]);
        sum / n
    };
    let add = |[n, sum, squares]: Sums, mean: f64| [n + 1.0, sum + mean, squares + mean * mean];
    let of_step = |step: &GroupsAtStep<'_>| {
        let means = step.groups.iter().map(|group| mean_of(group)).filter(|mean| mean.is_finite());
        means.fold([0.0; 3], add)
    };
    steps.iter().map(of_step).collect()
}

/// The mean over the groups of some steps, and its standard error.
pub fn level(sums: &[Sums]) -> (f64, f64) {
    let add = |a: Sums, b: &Sums| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let [n, sum, squares] = sums.iter().fold([0.0; 3], add);
    let mean = sum / n;
    (mean, ((squares - n * mean * mean).max(0.0) / (n - 1.0) / n).sqrt())
}

/// Whether length, cuts, entropy and likelihood of responses are the same in as many steps before a place as from it on:
/// within three standard errors of groups, a fifth of a single response's deviation, or what they changed by
/// at any place before.
pub fn are_same_responses(steps: &[GroupsAtStep<'_>], at: usize, reach: usize) -> bool {
    OF_RESPONSES.iter().all(|of| {
        let sums = sums(steps, of);
        let levels = |at: usize| {
            let sides = [at.saturating_sub(reach)..at, at..(at + reach).min(steps.len())];
            sides.map(|places| level(&sums[places]))
        };
        let change = |at: usize| {
            let [(before, _), (there, _)] = levels(at);
            (before - there).abs()
        };
        let usual = (reach..(at + 1).saturating_sub(reach)).map(change).fold(0.0, f64::max);
        let [(before, before_error), (_, there_error)] = levels(at);
        let values = || {
            groups_of(&steps[at.saturating_sub(reach)..at])
                .flatten()
                .map(of)
                .filter(|value| value.is_finite())
        };
        let squares: f64 = values().map(|value| (value - before).powi(2)).sum();
        let deviation = (squares / values().count().max(1) as f64).sqrt();
        let most = (ERRORS * before_error.hypot(there_error)).max(NOTICED * deviation).max(usual);
        // Of a quantity that is not logged nothing is known.
        !change(at).is_finite() || change(at) <= most
    })
}
