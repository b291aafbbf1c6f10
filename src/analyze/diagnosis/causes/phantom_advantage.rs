//! Groups without a right answer have advantages.
//!
//! Statistic: among the groups that teach, whose outcomes are all known and whose rewards differ, those
//! without a right answer, by the part of the reward that says what is right. Where the rewards of a group
//! are equal, nothing else in the reward can be the reason: its advantages come from a baseline over more
//! than the group.
//! Threshold: likely where they are most of the groups that teach (lower end, 99.9 %) over the run, or
//! before anything was damaged (a run that lost its right answers has such groups afterwards, as a
//! consequence), and right answers do not become more all the same; possible from a quarter on, which
//! hard prompts give at the start of healthy runs. Where the reward is chance, that is the cause.

use super::super::patient::{Finding, Patient, found, number, percent, share_bounds};
use super::siblings::rewards_differ;
use super::uninformative_reward;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;
use crate::stats::sustained::{Direction, FEWEST_STEPS};

const MOST: f64 = 0.5;
const MANY: f64 = 0.25;
const NEEDS: &str =
    "group_id and what is right: a part of the reward that says so (reward/answer), or --pass";
const NEEDS_SIBLINGS: &str =
    "groups of two responses or more: one response has no siblings to be held against";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let Some(right) = patient.right().filter(|_| patient.has(Column::GroupId)) else {
        return Finding::NotChecked(NEEDS);
    };
    let (mut teach, mut phantom) = (0, 0);
    let (mut teach_before, mut phantom_before) = (0, 0);
    let mut first: Option<i64> = None;
    // Of a group with unknown outcomes nobody knows whether it has a right answer.
    let is_known = |group: &&[ResponseFact]| group.iter().all(|f| right.of(f).is_some());
    let teaches = |group: &&[ResponseFact]| group.iter().any(|f| f.signs != [false; 2]);
    if !patient.groups().any(|group| is_known(&group)) {
        return Finding::NotChecked(NEEDS);
    }
    if !patient.groups().any(|group| group.len() > 1) {
        return Finding::NotChecked(NEEDS_SIBLINGS);
    }
    let rewarded = patient.has(Column::Reward);
    let tells_apart = |group: &&[ResponseFact]| group.len() > 1 && (!rewarded || rewards_differ(group));
    for group in patient.groups().filter(is_known).filter(teaches).filter(tells_apart) {
        let before = u64::from(patient.damaged_from().is_none_or(|damaged| group[0].step < damaged));
        teach += 1;
        teach_before += before;
        if !group.iter().any(|f| right.of(f) == Some(true)) {
            phantom += 1;
            phantom_before += before;
            first = first.or(group.first().map(|f| f.step));
        }
    }
    let [low, _] = share_bounds(phantom, teach);
    if low <= MANY {
        return Finding::Absent;
    }
    // A reward that is chance comes from none of its parts.
    if matches!(uninformative_reward::examine(patient), Finding::Found(_)) {
        return Finding::Absent;
    }
    let most = share_bounds(phantom_before, teach_before)[0] > MOST;
    let learns = patient.changes_of(&right.signal()).any(|change| change.direction == Direction::Up);
    let told = patient.analysis.steps.len() >= FEWEST_STEPS;
    let share = phantom as f64 / teach.max(1) as f64;
    found(
        CauseCode::PhantomAdvantage,
        if low > MOST && most && told && !learns { Confidence::Likely } else { Confidence::Possible },
        first,
        format!(
            "{} of the groups that teach have no right answer ({}): their advantages come from the \
             other parts of the reward alone",
            percent(share),
            right.name
        ),
        "give groups without a right answer no advantage, or shape the reward such that its other parts \
         count only where the answer is right",
        vec![number("share of the groups with an advantage", share), number("groups", teach as f64)],
    )
}
