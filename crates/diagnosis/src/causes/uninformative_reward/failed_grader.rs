//! Right answers earn what wrong ones do: a grader that failed gives every answer the same reward.
//!
//! Statistic: groups with right and wrong answers, as a verdict apart from the reward says (`--pass`, or a part whose
//! name says nothing else), in which all rewards are the same.
//! Threshold: all but 5 % of them, and half (lower end, 99.9 %), over the run, from the step on at which that share
//! changed, or between two such steps. A reward that also waits for something else (a format) still pays for some right answers.
//! Before a step, that is what a reward does which waits for a format until it is learned. A grader that was mended there
//! differs: before it all of these groups are unpaid and no response of any group has an advantage, so nothing can have
//! been learned; and at the very next step most of these groups are paid.

use crate::causes::shared::lasting::{Counts, Share, Side};
use crate::causes::shared::siblings::{is_mixed, rewards_differ};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::measured;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const MOST: f64 = 0.5;
/// Groups of a failed grader that pay all the same: of the steps around the one at which it failed.
const FEW: f64 = 0.05;

const HINT: &str = "look at the grader: a parser, a sandbox or a judge that fails gives every answer the same reward; \
                    read some right answers with their rewards";

const HINT_MENDED: &str = "nothing was learned up to there: see what changed at that step (the grader, its reference answers, \
                           the weights of the reward), and whether other runs have the same grader";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let right = patient.right().filter(|right| right.part.is_some() && right.is_sure())?;
    let known = |unit: &&[ResponseFact]| unit.iter().all(|fact| fact.reward.is_finite());
    let mixed = || patient.units().filter(|unit| known(unit) && is_mixed(unit, |fact| right.of(fact)));
    let mut same = Counts::default();
    mixed().for_each(|unit| same.add(unit[0].step, !rewards_differ(unit)));
    let share = same
        .share(MOST)
        .filter(|share| is_rule(share) && (!ends_first(share.side) || is_mended(patient, &same, share)))?;
    let rewards = mixed().filter(|unit| share.side.holds(unit[0].step)).flatten().map(|fact| fact.reward);
    let [low, high] = rewards
        .fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], reward| [low.min(reward), high.max(reward)]);
    let units = if patient.has_siblings() { "groups" } else { "steps" };
    let level = match low == high {
        true => format!(": every reward is {}", measured(f64::from(low), 2)),
        false => String::new(),
    };
    let mut evidence =
        share.evidence("share in which right and wrong answers have the same reward", "that have both");
    evidence.extend([number("lowest reward there", low.into()), number("highest reward there", high.into())]);
    Some(
        found(
            CauseCode::UninformativeReward,
            Confidence::Likely,
            Some(share.from_step),
            format!(
                "{}right answers ({}) earn no more than wrong ones in {} of {} {units} that have both{level}",
                share.side.opens(),
                right.name,
                share.hits,
                share.tries
            ),
            if ends_first(share.side) { HINT_MENDED } else { HINT },
            evidence,
        )
        .before(share.side.end()),
    )
}

/// Whether it is how the run begins.
fn ends_first(side: Side) -> bool {
    matches!(side, Side::Before(_))
}

/// Nearly all of them, and not by chance.
fn is_rule(share: &Share) -> bool {
    share.value() >= 1.0 - FEW && share.lower() > MOST
}

/// Whether what pays from a step on was mended there: the policy had nothing to learn it from.
fn is_mended(patient: &Patient<'_>, same: &Counts, share: &Share) -> bool {
    let Some(step) = share.side.end() else { return false };
    let taught = |fact: &ResponseFact| fact.step < step && fact.signs != [false; 2];
    let is_next = patient.analysis.steps.iter().any(|row| row.step.checked_add(1) == Some(step));
    share.hits == share.tries
        && is_next
        && !patient.signs.facts.responses.iter().any(taught)
        && same.at(step).is_some_and(|[unpaid, all]| 2 * unpaid < all)
}
