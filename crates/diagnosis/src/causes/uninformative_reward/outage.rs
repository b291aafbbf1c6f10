//! Steps all of whose rewards are the same, between steps whose rewards differ: the grader was out.
//!
//! Statistic: groups all of whose rewards are that one value, in as many steps before and after (three at the least).
//! Threshold: if each group of these steps had it with the larger of the two shares (upper end, 99.9 %), all would in
//! 1 of 1,000,000 runs, the number of steps paid for. Likely where rewards differ again afterwards: no policy unlearns and
//! learns a task from one step to the next. To the end of the run it is possible, and only where the responses of the
//! first of these steps are what they were (`around_step`): else it may be the policy that broke.

use std::ops::Range;

use super::around_step::{FEWEST, GroupsAtStep, are_same_responses, by_step, groups_of};
use crate::causes::shared::bounds::share_bounds;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::{measured, percent};
use stapo_result::{CauseCode, Confidence};

/// Runs in which chance does it.
const FALSE_ALARMS: f64 = 1e-6;

const HINT: &str = "look at the grader there (a sandbox or a judge that does not answer gives every response the same reward), \
                    then at the prompts; leave such steps out of training";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let steps = by_step(patient);
    let mut first = 0;
    let mut longest: Option<(Range<usize>, Finding)> = None;
    for run in steps.chunk_by(|a, b| only(a).is_some() && only(a) == only(b)) {
        let places = first..first + run.len();
        first = places.end;
        let is_longer = longest.as_ref().is_none_or(|(known, _)| known.len() < places.len());
        if let Some(found) = outage(&steps, &places).filter(|_| is_longer) {
            longest = Some((places, found));
        }
    }
    longest.map(|(_, found)| found)
}

/// The reward that all responses of a step have.
fn only(step: &GroupsAtStep<'_>) -> Option<f32> {
    let mut rewards = step.groups.iter().copied().flatten().map(|fact| fact.reward);
    rewards.next().filter(|first| first.is_finite() && rewards.all(|reward| reward == *first))
}

fn outage(steps: &[GroupsAtStep<'_>], places: &Range<usize>) -> Option<Finding> {
    let value = only(&steps[places.start])?;
    let reach = places.len().max(FEWEST);
    let before = &steps[places.start.saturating_sub(reach)..places.start];
    let after = &steps[places.end..steps.len().min(places.end + reach)];
    let there = &steps[places.clone()];
    if before.is_empty() {
        return None;
    }
    let count = |steps: &[GroupsAtStep<'_>]| steps.iter().map(|step| step.groups.len() as u64).sum::<u64>();
    let same = |steps: &[GroupsAtStep<'_>]| {
        groups_of(steps).filter(|group| group.iter().all(|fact| fact.reward == value)).count() as u64
    };
    let usual = [before, after]
        .map(|side| if side.is_empty() { 0.0 } else { share_bounds(same(side), count(side))[1] });
    let groups = count(there);
    let by_chance = groups as f64 * usual[0].max(usual[1]).ln() + (steps.len() as f64).ln();
    if by_chance > FALSE_ALARMS.ln() {
        return None;
    }
    let mean = |steps: &[GroupsAtStep<'_>]| {
        let rewards = || groups_of(steps).flatten().map(|fact| fact.reward);
        rewards().map(f64::from).sum::<f64>() / rewards().count().max(1) as f64
    };
    // A run that is solved ends with the best reward alone.
    let is_fall = f64::from(value) < mean(before);
    if after.is_empty() && !(is_fall && are_same_responses(steps, places.start, FEWEST)) {
        return None;
    }
    let (from, last) = (there[0].step, there[there.len() - 1].step);
    let when = match (after.is_empty(), from == last) {
        (true, _) => format!("from step {from} on"),
        (false, true) => format!("at step {from}"),
        (false, false) => format!("in steps {from} to {last}"),
    };
    let then = match after.is_empty() {
        true => format!(
            "{} before, by responses that are as long, as likely and of the same entropy",
            measured(mean(before), 2)
        ),
        false => format!("{} before and {} after", measured(mean(before), 2), measured(mean(after), 2)),
    };
    let mut evidence = vec![
        number("the only reward there", value.into()),
        number("groups there", groups as f64),
        number("share of groups with this reward alone before", same(before) as f64 / count(before) as f64),
    ];
    if !after.is_empty() {
        let share = same(after) as f64 / count(after) as f64;
        evidence.push(number("share of groups with this reward alone after", share));
    }
    let usually = percent(same(before) as f64 / count(before) as f64);
    Some(
        found(
            CauseCode::UninformativeReward,
            if after.is_empty() { Confidence::Possible } else { Confidence::Likely },
            Some(from),
            format!(
                "{when}, every reward is {} ({groups} groups, of which {usually} had no other reward just before): the mean \
                 is {then}",
                measured(value.into(), 2)
            ),
            HINT,
            evidence,
        )
        .before(after.first().map(|step| step.step)),
    )
}
