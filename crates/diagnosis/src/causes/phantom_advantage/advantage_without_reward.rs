//! Siblings whose rewards are all equal have advantages that differ, where equal rewards elsewhere have equal advantages.
//!
//! Statistic: groups whose responses have one reward, and those of them whose advantages differ among siblings by more
//! than a hundredth of the mean |A| of groups whose rewards differ. A baseline over more than the group gives siblings
//! one advantage; a critic, a penalty of single tokens or a discount give equal rewards different advantages in all groups: pairs
//! of equal rewards in groups whose rewards differ must have equal advantages (nineteen of twenty).
//! Threshold: 5 % of the groups that have advantages (lower end, 99.9 %), over the run or on one side of a step: likely
//! where mean |A| there is above half of that elsewhere, and length, cuts, entropy and surprisal explain less than half of the
//! advantages there (upper end); else possible: a penalty that is not logged may be meant.

use crate::causes::shared::lasting::Counts;
use crate::causes::shared::siblings::rewards_differ;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::told_reward::OF_RESPONSES;
use crate::responses::within_groups::{Feature, explained};
use crate::words::measured;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const TINY: f64 = 0.01;
const SOME: f64 = 0.05;
const NEARLY_ALL: f64 = 0.95;
const HALF: f64 = 0.5;
/// Pairs that say whether equal rewards have equal advantages.
const FEWEST_PAIRS: u64 = 20;

/// Looks for it.
pub fn look(patient: &Patient<'_>) -> Option<Finding> {
    let is_known = |group: &&[ResponseFact]| {
        group.len() > 1 && group.iter().all(|fact| fact.reward.is_finite() && fact.advantage.is_finite())
    };
    let groups = || patient.groups().filter(is_known);
    let usual = mean_size(groups().filter(|group| rewards_differ(group)))?;
    let is_apart = |a: f32, b: f32| f64::from((a - b).abs()) > TINY * usual;
    let mut equal = [0_u64; 2];
    for group in groups().filter(|group| rewards_differ(group)) {
        let neighbours = group.iter().zip(&group[1..]).filter(|(a, b)| a.reward == b.reward);
        neighbours.for_each(|(a, b)| {
            equal[0] += 1;
            equal[1] += u64::from(!is_apart(a.advantage, b.advantage));
        });
    }
    if equal[0] < FEWEST_PAIRS || (equal[1] as f64) < NEARLY_ALL * equal[0] as f64 {
        return None;
    }
    let differs = |group: &[ResponseFact]| {
        !rewards_differ(group) && group.iter().any(|fact| is_apart(fact.advantage, group[0].advantage))
    };
    let teaches = |group: &&[ResponseFact]| group.iter().any(|fact| fact.signs != [false; 2]);
    let mut made_up = Counts::default();
    groups().filter(teaches).for_each(|group| made_up.add(group[0].step, differs(group)));
    let share = made_up.share(SOME).filter(|share| share.lower() > SOME)?;
    let there = || groups().filter(|group| share.side.holds(group[0].step) && differs(group));
    let size = mean_size(there())?;
    let features: Vec<Feature<'_>> = OF_RESPONSES.iter().map(|of| of as Feature<'_>).collect();
    let told = explained(there(), &|fact| f64::from(fact.advantage), &features);
    let is_told = told.is_some_and(|told| told.upper > HALF);
    let mut evidence = share.evidence(
        "share of groups with equal rewards and different advantages",
        "groups that have advantages",
    );
    evidence.extend([number("mean |A| there", size), number("mean |A| where rewards differ", usual)]);
    Some(
        found(
            CauseCode::PhantomAdvantage,
            if size > HALF * usual && !is_told { Confidence::Likely } else { Confidence::Possible },
            Some(share.from_step),
            format!(
                "in {} of {} groups that have advantages{} all rewards are equal, yet siblings are told apart: mean |A| \
                 {} there, {} where rewards differ. These advantages come from nothing that was rewarded",
                share.hits,
                share.tries,
                share.side.told(),
                measured(size, 2),
                measured(usual, 2)
            ),
            "see how advantages are made where a group's rewards are equal: they must be 0 there (a deviation of 0 \
             that is divided by, a term that is not logged, values of another batch)",
            evidence,
        )
        .before(share.side.end()),
    )
}

fn mean_size<'a>(groups: impl Iterator<Item = &'a [ResponseFact]>) -> Option<f64> {
    let add = |[n, sum]: [f64; 2], fact: &ResponseFact| [n + 1.0, sum + f64::from(fact.advantage.abs())];
    let [n, sum] = groups.flatten().fold([0.0; 2], add);
    (sum > 0.0).then(|| sum / n)
}
