//! Which tokens and responses are trained that should not be, or the other way round.

use super::groups::median;
use stapo_accumulate::Accumulate;
use stapo_evidence::rewards::{Ending, NO_ADVANTAGE, Rewards, Sibling, StepCounts};
use std::collections::BTreeMap;

/// Tokens that are too few for an answer.
const NEAR_EMPTY: u32 = 2;

/// The counts of all steps.
pub fn totals(rewards: &Rewards) -> StepCounts {
    let mut all = StepCounts::default();
    rewards.steps.values().for_each(|step| all.merge(*step));
    all
}

/// Share of `of`, 0 of none.
pub fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

/// First step whose share is above a level.
pub fn first_step(rewards: &Rewards, level: f64, counts: fn(&StepCounts) -> [u64; 2]) -> Option<i64> {
    let above = |step: &&StepCounts| {
        let [part, of] = counts(step);
        share(part, of) > level
    };
    rewards.steps.iter().find(|(_, step)| above(step)).map(|(step, _)| *step)
}

/// Which responses were cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Share at the first step.
    pub first: f64,
    /// Share over the last fifth of the steps.
    pub last: f64,
    /// Share over the run.
    pub all: f64,
    /// The length that stands for it, where nothing says which were cut.
    pub budget: Option<u32>,
}

/// Measures them: by what is logged of each, else by the length that none exceeds.
pub fn cut(rewards: &Rewards) -> Option<Cut> {
    let is_logged = rewards.steps.values().any(|step| step.cut_known > 0);
    let budget = if is_logged { None } else { Some(budget(rewards)?) };
    let counts = |step: &StepCounts| match budget {
        None => [step.cut, step.cut_known],
        Some(budget) if step.longest.length == budget => [step.longest.count, step.responses],
        Some(_) => [0, step.responses],
    };
    let known: Vec<[u64; 2]> = rewards.steps.values().map(counts).filter(|[_, known]| *known > 0).collect();
    let of = |steps: &[[u64; 2]]| {
        let sum = |at: usize| steps.iter().map(|counts| counts[at]).sum::<u64>();
        share(sum(0), sum(1))
    };
    let last = (known.len() / 5).max(1);
    Some(Cut {
        first: of(known.get(..1)?),
        last: of(known.get(known.len().checked_sub(last)?..)?),
        all: of(&known),
        budget,
    })
}

/// Responses of one length, the longest, that are no chance: eight, and one in a hundred.
const AT_BUDGET: [u64; 2] = [8, 100];
/// Budgets are round numbers, and answers of one length by their task seldom: one length in 28 is a multiple of 32 or 100.
const ROUND: [u32; 2] = [32, 100];

/// The length that none exceeds and many have.
fn budget(rewards: &Rewards) -> Option<u32> {
    let all = totals(rewards);
    let [least, part] = AT_BUDGET;
    let longest = all.longest;
    let is_round = longest.length > 0 && ROUND.iter().any(|of| longest.length.is_multiple_of(*of));
    (is_round && longest.count >= least && longest.count * part >= all.responses).then_some(longest.length)
}

/// Responses of next to nothing that are rewarded lowest: what a sampler that was down leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct NearEmpty {
    /// Their share among the responses.
    pub share: f64,
    /// Share of them that do not end in the token that other responses end in; `None` where that is not known.
    pub without_end: Option<f64>,
    /// Tokens of the median response.
    pub usual: f64,
    /// First step with one.
    pub from: Option<i64>,
}

/// Measures them.
pub fn near_empty(rewards: &Rewards) -> NearEmpty {
    let all = || rewards.groups.sets().flatten();
    let known = || all().map(|s| s.reward).filter(|reward| reward.is_finite());
    let lowest = f64::from(known().fold(f32::INFINITY, f32::min));
    let teaches = |s: &Sibling| {
        let advantage = f64::from(s.advantage);
        (s.trained > 0 || s.len == 0) && (advantage.is_nan() || advantage.abs() > NO_ADVANTAGE)
    };
    let is_short = |s: &&Sibling| {
        s.len <= NEAR_EMPTY && f64::from(s.reward) <= lowest + 1e-9 && s.cut != Some(true) && teaches(s)
    };
    let end = usual_end(all());
    let short = all().filter(is_short).count() as u64;
    let without = |end: i32| all().filter(is_short).filter(|s| s.last != Some(end)).count() as u64;
    NearEmpty {
        share: share(short, all().count() as u64),
        without_end: end.map(|end| share(without(end), short)),
        usual: median(all().map(|s| f64::from(s.len)).collect()).unwrap_or(0.0),
        from: all().filter(is_short).map(|s| s.step).min(),
    }
}

/// Share of the finished responses whose last trained token is the commonest one.
pub fn one_last_trained(rewards: &Rewards) -> f64 {
    let finished = rewards.groups.sets().flatten().filter(|s| s.ending == Ending::Finished);
    let last: Vec<i32> = finished.filter_map(|s| s.last_trained).collect();
    commonest(last.iter().copied()).map_or(0.0, |(_, count)| share(count, last.len() as u64))
}

/// The token that most responses end in which the policy ended.
fn usual_end<'a>(all: impl Iterator<Item = &'a Sibling>) -> Option<i32> {
    let finished = all.filter(|s| s.ending == Ending::Finished && s.len > NEAR_EMPTY);
    commonest(finished.filter_map(|s| s.last)).map(|(end, _)| end)
}

fn commonest(tokens: impl Iterator<Item = i32>) -> Option<(i32, u64)> {
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    tokens.for_each(|token| *counts.entry(token).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count)
}
