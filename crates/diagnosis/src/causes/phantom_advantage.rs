//! Groups without a right answer have advantages.
//!
//! Statistic: among the groups that teach, whose outcomes are all known and whose rewards differ, those
//! without a right answer, by the part of the reward that says what is right. Where the rewards of a group
//! are equal, nothing else in the reward can be the reason: its advantages come from a baseline over more
//! than the group.
//! Threshold: likely where they are most of the groups that teach (lower end, 99.9 %) over the run, or
//! before anything was damaged (a run that lost its right answers has such groups afterwards, as a
//! consequence), and right answers do not become more all the same: a noticeable rise is out of reach (three standard
//! errors), and no other part of the reward is higher where the answer is right, as partial credit is. Possible from a
//! quarter on, which hard prompts give at the start of healthy runs. Where the reward is chance, that is the cause. Else advantages of
//! next to no difference (`amplified_noise`). Before all, advantages where rewards are equal (`advantage_without_reward`).

mod advantage_without_reward;
mod amplified_noise;

use super::shared::bounds::share_bounds;
use super::shared::siblings::{is_mixed, rewards_differ};
use super::uninformative_reward;
use crate::damage::changes::NOTICED;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::right::Right;
use crate::responses::within_groups::{MAX_PARTS, Slopes, part};
use crate::words::percent;
use stapo_base::stats::sustained::{Direction, FEWEST_STEPS};
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const MOST: f64 = 0.5;
const MANY: f64 = 0.25;
/// Standard errors of a rise, and of a slope.
const ERRORS: f64 = 3.0;
const NEEDS: &str =
    "group_id and what is right: a part of the reward that says so (reward/answer), or --pass";
const NEEDS_RIGHT: &str = "what is right: a part of the reward that says so (reward/answer), or --pass";
const NEEDS_SIBLINGS: &str =
    "groups of two responses or more: one response has no siblings to be held against";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    advantage_without_reward::look(patient).unwrap_or_else(|| without_right_answer(patient))
}

fn without_right_answer(patient: &Patient<'_>) -> Finding {
    let needs = if patient.knows_groups() { NEEDS_RIGHT } else { NEEDS };
    let Some(right) = patient.right().filter(|_| patient.knows_groups()) else {
        return Finding::NotChecked(needs);
    };
    let (mut teach, mut phantom) = (0, 0);
    let (mut teach_before, mut phantom_before) = (0, 0);
    let mut first: Option<i64> = None;
    // Of a group with unknown outcomes nobody knows whether it has a right answer.
    let is_known = |group: &&[ResponseFact]| group.iter().all(|f| right.of(f).is_some());
    let teaches = |group: &&[ResponseFact]| group.iter().any(|f| f.signs != [false; 2]);
    if !patient.groups().any(|group| is_known(&group)) {
        return Finding::NotChecked(needs);
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
        return amplified_noise::look(patient, &right).unwrap_or(Finding::Absent);
    }
    // A reward that is chance comes from none of its parts.
    if matches!(uninformative_reward::examine(patient), Finding::Found(_)) {
        return Finding::Absent;
    }
    let most = share_bounds(phantom_before, teach_before)[0] > MOST;
    let learns = may_learn(patient, &right);
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

/// Whether right answers became more, may have become so for all that can be told, or are what the other parts of the
/// reward point at.
fn may_learn(patient: &Patient<'_>, right: &Right<'_>) -> bool {
    let rose = patient.changes_of(&right.signal()).any(|change| change.direction == Direction::Up);
    rose || may_have_risen(patient, right) || is_pointed_at(patient, right)
}

/// Whether a noticeable rise of right answers is within reach; not where there never was one.
fn may_have_risen(patient: &Patient<'_>, right: &Right<'_>) -> bool {
    if !patient.signs.facts.responses.iter().any(|fact| right.of(fact) == Some(true)) {
        return false;
    }
    let course = patient.series(&right.signal()).and_then(|series| Some((series.ends()?, series.range?)));
    course.is_none_or(|([began, ended], [.., deviation])| {
        let most = ended.value - began.value + ERRORS * began.error.hypot(ended.error);
        most > NOTICED * deviation
    })
}

/// Whether another part of the reward is higher where the answer is right, in groups that have both: partial credit.
fn is_pointed_at(patient: &Patient<'_>, right: &Right<'_>) -> bool {
    let is_right = |f: &ResponseFact| right.of(f).map_or(f64::NAN, |right| f64::from(u8::from(right)));
    let others = (0..patient.plan.reward_parts.len().min(MAX_PARTS)).filter(|part| Some(*part) != right.part);
    others.map(part).any(|other| {
        let mixed = patient.groups().filter(|group| is_mixed(group, |fact| right.of(fact)));
        let slopes = Slopes::of(mixed, other.as_ref(), &[&is_right]);
        let slope = slopes.and_then(|slopes| slopes.sum(&[(0, 1.0)]));
        slope.is_some_and(|[slope, error]| slope > ERRORS * error)
    })
}
