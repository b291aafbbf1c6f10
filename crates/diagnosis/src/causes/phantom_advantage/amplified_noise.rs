//! Groups whose answers are equal and whose rewards differ by next to nothing, yet whose advantages are as large as
//! elsewhere: divided by the deviation of their own group, ties that are broken by chance, a judge's rounding or a tiny
//! term teach as much as an answer.
//!
//! Statistic: of the groups that teach and whose outcomes are all known, those of equal answers whose range of rewards
//! is above 0 and below a hundredth of that of the median group with right and wrong answers, and whose mean |A| is above half of
//! that of the median such group.
//! Threshold: 5 % of the groups that teach (lower end, 99.9 %), over the run or on one side of a step; only possible,
//! since a tiny term may be meant to break ties.

use crate::causes::shared::lasting::Counts;
use crate::causes::shared::siblings::is_mixed;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::right::Right;
use stapo_base::stats::quantile::select_quantile;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const TINY: f32 = 0.01;
const AS_LARGE: f32 = 0.5;
const SOME: f64 = 0.05;

/// Range of the rewards, and mean |A|.
fn sizes(group: &[ResponseFact]) -> [f32; 2] {
    let rewards = || group.iter().map(|fact| fact.reward);
    let range = rewards().fold(f32::NEG_INFINITY, f32::max) - rewards().fold(f32::INFINITY, f32::min);
    [range, group.iter().map(|fact| fact.advantage.abs()).sum::<f32>() / group.len() as f32]
}

/// Looks for it.
#[allow(clippy::cast_possible_truncation)]
pub fn look(patient: &Patient<'_>, right: &Right<'_>) -> Option<Finding> {
    let is_known = |group: &&[ResponseFact]| {
        let known =
            |f: &ResponseFact| right.of(f).is_some() && f.reward.is_finite() && f.advantage.is_finite();
        group.len() > 1 && group.iter().all(known)
    };
    let teaches = |group: &&[ResponseFact]| group.iter().any(|f| f.signs != [false; 2]);
    let groups: Vec<(&[ResponseFact], bool, [f32; 2])> = patient
        .groups()
        .filter(is_known)
        .filter(teaches)
        .map(|group| (group, is_mixed(group, |fact| right.of(fact)), sizes(group)))
        .collect();
    let median = |of: usize| {
        let mut values: Vec<f32> = groups.iter().filter(|group| group.1).map(|group| group.2[of]).collect();
        select_quantile(&mut values, 0.5).map(|value| value as f32)
    };
    let (usual_range, usual_size) = (median(0)?, median(1)?);
    let mut noise = Counts::default();
    for (group, mixed, [range, size]) in &groups {
        let is_tiny = *range > 0.0 && *range < TINY * usual_range;
        let is_noise = !mixed && is_tiny && *size > AS_LARGE * usual_size;
        noise.add(group[0].step, is_noise);
    }
    let share = noise.share(SOME).filter(|share| share.lower() > SOME)?;
    Some(found(
        CauseCode::PhantomAdvantage,
        Confidence::Possible,
        Some(share.from_step),
        format!(
            "in {} of {} groups that teach{} answers are equal ({}) and rewards differ by less than a hundredth of what \
             they do elsewhere, yet the advantages are as large: noise, divided by its own deviation",
            share.hits,
            share.tries,
            share.side.told(),
            right.name
        ),
        "see what tells these rewards apart; round it off before advantages are made, or do not divide by the \
         deviation of the group",
        share.evidence("share of groups whose advantage is of a tiny difference", "groups that teach"),
    )
    .before(share.side.end()))
}
