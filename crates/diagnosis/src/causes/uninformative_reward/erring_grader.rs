//! From a step on, some right answers earn nothing, or some wrong ones pass: a grader that errs.
//!
//! Statistic: groups with right and wrong answers, as a verdict apart from the reward says, in which a right answer earns
//! no more than a wrong one. Threshold: the step at which their share rose (`lasting`), 5 % from there on (lower end,
//! 99.9 %), and a reward that what is logged said before it and does not say from there on (`told_reward`): a penalty
//! that outweighs right answers is told by what it is taken for.

use crate::causes::shared::lasting::{Counts, Side};
use crate::causes::shared::siblings::is_mixed;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::told_reward::lost_from;
use crate::words::percent;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const SOME: f64 = 0.05;

const HINT: &str = "see what changed at that step in the grader (a parser, a sandbox, a judge, its reference answers); read \
                    right answers that earned nothing, and wrong ones that passed";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let right = patient.right().filter(|right| right.part.is_some() && right.is_sure())?;
    let known = |unit: &&[ResponseFact]| unit.iter().all(|fact| fact.reward.is_finite());
    let mixed = patient.units().filter(|unit| known(unit) && is_mixed(unit, |fact| right.of(fact)));
    let mut crossed = Counts::default();
    for unit in mixed {
        let of =
            |is: bool| unit.iter().filter(move |fact| right.of(fact) == Some(is)).map(|fact| fact.reward);
        let [least, most] =
            [of(true).fold(f32::INFINITY, f32::min), of(false).fold(f32::NEG_INFINITY, f32::max)];
        crossed.add(unit[0].step, least <= most);
    }
    let share = crossed.share(SOME).filter(|share| share.lower() > SOME)?;
    let Side::From(step) = share.side else { return None };
    let [before, after] = lost_from(&patient.signs.facts, patient.plan.reward_parts.len(), step)?;
    let units = if patient.has_siblings() { "groups" } else { "steps" };
    let mut evidence =
        share.evidence("share in which a right answer earns no more than a wrong one", "that have both");
    evidence.extend([
        number("share of the reward that what is logged explains", after),
        number("the same before that step", before),
    ]);
    Some(found(
        CauseCode::UninformativeReward,
        Confidence::Likely,
        Some(share.from_step),
        format!(
            "{}a right answer ({}) earns no more than a wrong one in {} of {} {units} that have both, and what is logged of \
             a response explains {} of its reward, before that step {}: the grader errs",
            share.side.opens(),
            right.name,
            share.hits,
            share.tries,
            percent(after),
            percent(before)
        ),
        HINT,
        evidence,
    ))
}
