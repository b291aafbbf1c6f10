//! What a group's advantages rest on: a right answer, a difference of rewards, or neither.

use super::groups::{Group, groups};
use stapo_evidence::rewards::{Rewards, Sibling};

/// Words of parts that say whether an answer is right. Where there are several, the first in this order.
const RIGHT: [&str; 9] =
    ["correct", "answer", "acc", "solve", "success", "exact", "match", "outcome", "pass"];
/// Words of parts that are a goal of a task, not a price: what a reward has to follow.
const GOALS: [&str; 13] = [
    "correct", "acc", "answer", "pass", "solve", "success", "match", "exact", "test", "format", "valid",
    "score", "outcome",
];

/// Whether a part of the reward is named as a goal.
pub fn is_goal(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    GOALS.iter().any(|word| name.contains(word))
}

/// Whether a part of the reward is named after right answers.
pub fn is_right(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RIGHT.iter().any(|word| name.contains(word))
}

/// Groups with an advantage, by what it rests on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rests {
    /// Groups with an advantage.
    pub advantaged: u64,
    /// Of these, those whose rewards are equal and whose advantages differ between siblings.
    pub on_nothing: u64,
    /// First step with one.
    pub on_nothing_from: Option<i64>,
    /// Mean |A| there, over that where rewards differ.
    pub size: f64,
    /// Pairs of equal rewards in groups whose rewards differ, and those of them with equal advantages.
    pub equal_pairs: [u64; 2],
    /// Groups with an advantage whose rewards differ and whose outcomes are known, and those of them without a right
    /// answer.
    pub answered: [u64; 2],
    /// First step with one without.
    pub unanswered_from: Option<i64>,
}

/// Measures it; `parts` are the names of the reward's parts.
pub fn rests(rewards: &Rewards, parts: &[String]) -> Rests {
    let right = right_part(rewards, parts);
    let mut rests = Rests::default();
    let all = groups(rewards);
    let usual = mean_size(&all, |group| group.is_mixed());
    let apart = |a: &Sibling, b: &Sibling| f64::from((a.advantage - b.advantage).abs()) > 0.01 * usual;
    let differs = |group: &Group<'_>| group.siblings.iter().any(|sibling| apart(sibling, &group.siblings[0]));
    let is_known = |group: &Group<'_>| group.siblings.iter().all(|s| s.advantage.is_finite());
    for group in all.iter().filter(|group| group.is_advantaged() && is_known(group)) {
        rests.advantaged += 1;
        if group.is_mixed() {
            for pair in group.siblings.windows(2).filter(|pair| pair[0].reward == pair[1].reward) {
                rests.equal_pairs[0] += 1;
                rests.equal_pairs[1] += u64::from(!apart(&pair[0], &pair[1]));
            }
            let Some((part, best)) = right else { continue };
            let of = |s: &Sibling| s.parts.get(part).copied().filter(|value| value.is_finite());
            if group.siblings.iter().all(|s| of(s).is_some()) {
                rests.answered[0] += 1;
                if !group.siblings.iter().any(|s| of(s) == Some(best)) {
                    rests.answered[1] += 1;
                    rests.unanswered_from = rests.unanswered_from.into_iter().chain([group.step]).min();
                }
            }
        } else if differs(group) {
            rests.on_nothing += 1;
            rests.on_nothing_from = rests.on_nothing_from.into_iter().chain([group.step]).min();
        }
    }
    let there = mean_size(&all, |group| !group.is_mixed() && is_known(group) && differs(group));
    rests.size = if usual > 0.0 { there / usual } else { 0.0 };
    rests
}

/// Mean |A| over the groups with an advantage of which this holds.
fn mean_size(all: &[Group<'_>], holds: impl Fn(&Group<'_>) -> bool) -> f64 {
    let all = all.iter().filter(|group| group.is_advantaged() && holds(group));
    let sizes = all.flat_map(|group| group.siblings).map(|s| f64::from(s.advantage.abs()));
    let (n, sum) = sizes.filter(|size| size.is_finite()).fold((0.0, 0.0), |(n, sum), a| (n + 1.0, sum + a));
    sum / f64::max(n, 1.0)
}

/// The part that says whether an answer is right, and its value for right ones: named so, with two values.
fn right_part(rewards: &Rewards, parts: &[String]) -> Option<(usize, f32)> {
    let named = |word: &&str| parts.iter().position(|name| name.to_ascii_lowercase().contains(*word));
    let part = RIGHT.iter().find_map(named)?;
    let values = || rewards.groups.sets().flatten().filter_map(|s| s.parts.get(part).copied());
    let known = || values().filter(|value| value.is_finite());
    let (low, high) = (known().fold(f32::INFINITY, f32::min), known().fold(f32::NEG_INFINITY, f32::max));
    (low < high && known().all(|value| value == low || value == high)).then_some((part, high))
}

/// Groups of the last third of the steps without any advantage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dead {
    /// Groups of two responses or more of which it is known, over the run, and those without.
    pub groups: [u64; 2],
    /// The same in the last third of the steps.
    pub late: [u64; 2],
    /// Of the late ones without: those with the highest reward throughout, with the lowest, with rewards that differ.
    pub solved: u64,
    /// See `solved`.
    pub failed: u64,
    /// See `solved`.
    pub mixed: u64,
    /// Share of the run's tokens (responses, where no token is logged) in groups without.
    pub cost: f64,
    /// First step of the last third.
    pub from: Option<i64>,
}

/// Measures them; where no advantage is logged, those are dead whose rewards are equal.
pub fn dead(rewards: &Rewards) -> Dead {
    let all = groups(rewards);
    let are_known = all.iter().any(|group| group.siblings.iter().any(|s| s.advantage.is_finite()));
    let is_dead = |group: &Group<'_>| if are_known { !group.is_advantaged() } else { !group.is_mixed() };
    let mut steps: Vec<i64> = all.iter().map(|group| group.step).collect();
    steps.sort_unstable();
    steps.dedup();
    let from = steps.get(steps.len() - steps.len().div_ceil(3)).copied();
    let means = || all.iter().map(|group| group.mean_reward);
    let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    let mut found = Dead { from, ..Dead::default() };
    let [mut lost, mut paid] = [0.0; 2];
    for group in &all {
        let cost: f64 = group.siblings.iter().map(|s| f64::from(s.len.max(1))).sum();
        let dead = is_dead(group);
        let late = from.is_some_and(|from| group.step >= from);
        paid += cost;
        lost += if dead { cost } else { 0.0 };
        found.groups[0] += 1;
        found.groups[1] += u64::from(dead);
        found.late[0] += u64::from(late);
        if late && dead {
            found.late[1] += 1;
            let is_all = |level: f64| !group.is_mixed() && (group.mean_reward - level).abs() < 1e-6;
            found.solved += u64::from(is_all(high) && high > low);
            found.failed += u64::from(is_all(low) && high > low);
            found.mixed += u64::from(group.is_mixed());
        }
    }
    found.cost = if paid > 0.0 { lost / paid } else { 0.0 };
    found
}
