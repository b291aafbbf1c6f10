//! Steps all of whose rewards are the same, between steps whose rewards differ: the grader was out.
//!
//! Statistic: groups all of whose rewards are that one value, in as many steps before and after (three at the least).
//! Threshold: if each group of these steps had it with the larger of the two shares (upper end, 99.9 %), all would in
//! 1 of 1,000,000 runs, the number of steps paid for. Likely where rewards differ again afterwards: no policy unlearns and
//! learns a task from one step to the next. To the end of the run it is possible, and only where entropy, likelihood
//! and length of the responses are what they were (three standard errors of groups): else it may be the policy that broke.

use std::ops::Range;

use super::super::patient::{Finding, Patient, found, measured, number, percent, share_bounds};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence};

/// Runs in which chance does it.
const FALSE_ALARMS: f64 = 1e-6;
/// Steps before and after that are looked at, at the least.
const FEWEST: usize = 3;
const ERRORS: f64 = 3.0;

const HINT: &str = "look at the grader there (a sandbox or a judge that does not answer gives every response the same reward), \
                    then at the prompts; leave such steps out of training";

/// The groups of a step.
struct Step<'a> {
    step: i64,
    groups: Vec<&'a [ResponseFact]>,
    /// The reward that all of its responses have.
    only: Option<f32>,
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let steps = steps(patient);
    let mut first = 0;
    let mut longest: Option<(Range<usize>, Finding)> = None;
    for run in steps.chunk_by(|a, b| a.only.is_some() && a.only == b.only) {
        let places = first..first + run.len();
        first = places.end;
        let is_longer = longest.as_ref().is_none_or(|(known, _)| known.len() < places.len());
        if let Some(found) = outage(&steps, &places).filter(|_| is_longer) {
            longest = Some((places, found));
        }
    }
    longest.map(|(_, found)| found)
}

fn steps<'a>(patient: &Patient<'a>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    let mut groups: Vec<&[ResponseFact]> = patient.groups().collect();
    groups.sort_by_key(|group| group[0].step);
    for of_step in groups.chunk_by(|a, b| a[0].step == b[0].step) {
        let mut rewards = of_step.iter().copied().flatten().map(|fact| fact.reward);
        let only = rewards.next().filter(|first| first.is_finite() && rewards.all(|reward| reward == *first));
        steps.push(Step { step: of_step[0][0].step, groups: of_step.to_vec(), only });
    }
    steps
}

fn outage(steps: &[Step<'_>], places: &Range<usize>) -> Option<Finding> {
    let value = steps[places.start].only?;
    let reach = places.len().max(FEWEST);
    let before = &steps[places.start.saturating_sub(reach)..places.start];
    let after = &steps[places.end..steps.len().min(places.end + reach)];
    let there = &steps[places.clone()];
    if before.is_empty() {
        return None;
    }
    let count = |steps: &[Step<'_>]| steps.iter().map(|step| step.groups.len() as u64).sum::<u64>();
    let same = |steps: &[Step<'_>]| {
        let groups = steps.iter().flat_map(|step| &step.groups);
        groups.filter(|group| group.iter().all(|fact| fact.reward == value)).count() as u64
    };
    let usual = [before, after]
        .map(|side| if side.is_empty() { 0.0 } else { share_bounds(same(side), count(side))[1] });
    let groups = count(there);
    let by_chance = groups as f64 * usual[0].max(usual[1]).ln() + (steps.len() as f64).ln();
    if by_chance > FALSE_ALARMS.ln() {
        return None;
    }
    let mean = |steps: &[Step<'_>]| {
        let rewards =
            || steps.iter().flat_map(|step| step.groups.iter().copied().flatten()).map(|fact| fact.reward);
        rewards().map(f64::from).sum::<f64>() / rewards().count().max(1) as f64
    };
    // A run that is solved ends with the best reward alone.
    let is_fall = f64::from(value) < mean(before);
    if after.is_empty() && !(is_fall && is_same_policy(before, there)) {
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

/// Whether responses are what they were.
fn is_same_policy(before: &[Step<'_>], there: &[Step<'_>]) -> bool {
    let of: [fn(&ResponseFact) -> f64; 3] =
        [|f| f64::from(f.length), |f| f64::from(f.entropy), |f| f64::from(f.surprisal)];
    of.into_iter().all(|of| {
        let [(a, a_error), (b, b_error)] = [before, there].map(|steps| level(steps, of));
        (a - b).abs() <= ERRORS * a_error.hypot(b_error)
    })
}

/// The mean over groups, and its standard error.
fn level(steps: &[Step<'_>], of: fn(&ResponseFact) -> f64) -> (f64, f64) {
    let means: Vec<f64> = steps
        .iter()
        .flat_map(|step| &step.groups)
        .map(|group| group.iter().map(of).sum::<f64>() / group.len() as f64)
        .filter(|mean| mean.is_finite())
        .collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}
