//! The advantage follows a reward that has the wrong sign: right answers are punished.
//!
//! Statistic and threshold: likely where right answers have the lower
//! advantage in most of the groups that have right and wrong ones (lower end, 99.9 %), over the run or on
//! one side of a step; what is right must be known apart from the reward, as a verdict. Where the reward takes
//! two values and is that verdict in most of these groups, 5 % of groups in which it is the opposite are enough.
//! Where hacking is likely, it takes nine of ten groups (lower end).

use crate::causes::reward_hacking;
use crate::causes::shared::bounds::share_bounds;
use crate::causes::shared::lasting::Counts;
use crate::causes::shared::siblings::{is_mixed, more_where};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use stapo_result::{CauseCode, Confidence};

const LIKELY: f64 = 0.05;
const MOST: f64 = 0.5;
const NEARLY_ALL: f64 = 0.9;
const MIXED_GROUPS: &str = "groups with right and wrong answers";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    right_is_punished(patient).or_else(|| turned_round(patient))
}

/// Groups in which right answers are pushed down. Where another part of the reward is gamed, that is why, unless they
/// are nearly all: what is gamed is paid for right and wrong answers alike.
fn right_is_punished(patient: &Patient<'_>) -> Option<Finding> {
    let right = patient.right().filter(|right| right.part.is_some() && right.is_verdict)?;
    let mut against = Counts::default();
    for group in patient.groups().filter(|group| is_mixed(group, |fact| right.of(fact))) {
        let more = more_where(group, |fact| right.of(fact), |fact| fact.advantage);
        if more.is_finite() && group.iter().any(|fact| fact.signs != [false; 2]) {
            against.add(group[0].step, more < 0.0);
        }
    }
    let share = against.share(MOST).filter(|share| share.lower() > MOST)?;
    if share.lower() <= NEARLY_ALL && reward_hacking::examine(patient).is_likely() {
        return None;
    }
    Some(found(
        CauseCode::AdvantageContradictsReward,
        Confidence::Likely,
        Some(share.from_step),
        format!(
            "in {} of {} groups with right and wrong answers{} the right ones ({}) have the lower advantage: the \
             reward pays for wrong answers",
            share.hits,
            share.tries,
            share.side.told(),
            right.name
        ),
        "look at the sign of the reward and of each of its parts, and at what is compared with the reference \
         answer",
        share.evidence("share of groups whose right answers have the lower advantage", MIXED_GROUPS),
    )
    .before(share.side.end()))
}

/// Groups whose reward, of two values, is the opposite of what is right, while it is what is right elsewhere.
fn turned_round(patient: &Patient<'_>) -> Option<Finding> {
    let right = patient.right().filter(|right| right.part.is_some() && right.is_verdict)?;
    let mut rewards = patient.signs.facts.responses.iter().map(|f| f.reward).filter(|r| r.is_finite());
    let one = rewards.next()?;
    let other = rewards.find(|reward| *reward != one)?;
    if !rewards.all(|reward| reward == one || reward == other) {
        return None;
    }
    let high = one.max(other);
    let (mut opposite, mut agreeing) = (Counts::default(), 0);
    for group in patient.groups().filter(|group| is_mixed(group, |fact| right.of(fact))) {
        let all = |same: bool| group.iter().all(|f| right.of(f) == Some((f.reward == high) == same));
        opposite.add(group[0].step, all(false));
        agreeing += u64::from(all(true));
    }
    let share = opposite.share(LIKELY).filter(|share| share.lower() > LIKELY)?;
    if share_bounds(agreeing, share.of_run[1] - share.of_run[0])[0] <= MOST {
        return None;
    }
    Some(found(
        CauseCode::AdvantageContradictsReward,
        Confidence::Likely,
        Some(share.from_step),
        format!(
            "in {} of {} groups with right and wrong answers{} the reward is the opposite of what is right ({}): \
             wrong answers are paid there",
            share.hits,
            share.tries,
            share.side.told(),
            right.name
        ),
        "look at the reference answers of these prompts, and at how the reward is joined to the responses",
        share.evidence("share of groups whose reward is the opposite", MIXED_GROUPS),
    )
    .before(share.side.end()))
}
