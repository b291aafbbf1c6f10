//! Advantages were made of other groups than the logged ones: rows in another order than the baseline takes them in,
//! or ids that belong to other responses.
//!
//! Statistic: of the groups that teach and have two responses of the same reward and the same parts of it, those in
//! which such responses have different advantages, by half of the usual |A| or more. A baseline of the group, of the
//! batch or of the prompt gives all of them the same. Beside it: whether advantages add up to 0 over a step, but not
//! over its groups, as they do where groups were made otherwise.
//! Threshold: half of these groups (lower end, 99.9 %), over the run or on one side of a step. Likely where the
//! advantages of nine steps in ten add up to 0 while those of most groups do not; possible else, since a term that is
//! not logged (a length, a KL) may tell equal rewards apart. Only where each response has one advantage.

use std::collections::BTreeMap;

use super::crossed_signs::have_one_advantage;
use crate::causes::shared::lasting::Counts;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use stapo_base::stats::quantile::select_quantile;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const MOST: f64 = 0.5;
/// Advantages that differ by this part of the usual |A| are different ones.
const DIFFERENT: f32 = 0.5;
/// A sum of advantages is 0 where it is below this part of the sum of their sizes.
const NOTHING: f64 = 0.01;
const NEARLY_ALL: f64 = 0.9;

/// What a response was rewarded with, to the last bit.
type Rewards = (u32, Vec<u32>, Option<bool>);

fn rewards(fact: &ResponseFact) -> Rewards {
    (fact.reward.to_bits(), fact.parts.iter().map(|part| part.to_bits()).collect(), fact.truncated)
}

/// The largest difference between advantages of equal rewards; `None` where no two rewards are equal.
fn apart(group: &[ResponseFact]) -> Option<f32> {
    let mut ends: BTreeMap<Rewards, (usize, [f32; 2])> = BTreeMap::new();
    for fact in group.iter().filter(|fact| fact.reward.is_finite() && fact.advantage.is_finite()) {
        let (n, [low, high]) = ends.entry(rewards(fact)).or_insert((0, [f32::INFINITY, f32::NEG_INFINITY]));
        *n += 1;
        *low = low.min(fact.advantage);
        *high = high.max(fact.advantage);
    }
    ends.into_values().filter(|(n, _)| *n > 1).map(|(_, [low, high])| high - low).reduce(f32::max)
}

/// Of units with an advantage, the share whose advantages add up to 0.
fn add_up_to_nothing<'a>(units: impl Iterator<Item = &'a [ResponseFact]>) -> f64 {
    let (mut nothing, mut all) = (0.0, 0.0);
    for unit in units {
        let known = || unit.iter().map(|fact| f64::from(fact.advantage)).filter(|a| a.is_finite());
        let size: f64 = known().map(f64::abs).sum();
        if size > 0.0 {
            all += 1.0;
            nothing += f64::from(u8::from(known().sum::<f64>().abs() <= NOTHING * size));
        }
    }
    nothing / f64::max(all, 1.0)
}

/// Looks for it.
#[allow(clippy::cast_possible_truncation)]
pub fn look(patient: &Patient<'_>) -> Option<Finding> {
    let responses = &patient.signs.facts.responses;
    if !patient.has_siblings() || !have_one_advantage(responses.iter()) {
        return None;
    }
    let mut sizes: Vec<f32> =
        responses.iter().filter(|f| f.signs != [false; 2]).map(|f| f.advantage.abs()).collect();
    let usual = select_quantile(&mut sizes, 0.5)? as f32;
    let mut unequal = Counts::default();
    for group in patient.groups().filter(|group| group.iter().any(|f| f.signs != [false; 2])) {
        if let Some(apart) = apart(group) {
            unequal.add(group[0].step, apart > DIFFERENT * usual);
        }
    }
    let share = unequal.share(MOST).filter(|share| share.lower() > MOST)?;
    let of_steps = add_up_to_nothing(responses.chunk_by(|a, b| a.step == b.step));
    let of_groups = add_up_to_nothing(patient.groups());
    let is_likely = of_steps > NEARLY_ALL && of_groups < MOST;
    let because = match is_likely {
        true => {
            ", and advantages add up to 0 over each step but not over its groups: they were made of other groups than \
             the logged ones"
        }
        false => {
            ": they were made of other groups than the logged ones, or of another reward (a length, a KL that is not \
             logged)"
        }
    };
    let mut evidence = share.evidence(
        "share of groups whose equal rewards have different advantages",
        "groups that teach and have equal rewards",
    );
    evidence.push(number("share of steps whose advantages add up to 0", of_steps));
    evidence.push(number("the same of groups", of_groups));
    Some(found(
        CauseCode::AdvantageContradictsReward,
        if is_likely { Confidence::Likely } else { Confidence::Possible },
        Some(share.from_step),
        format!(
            "siblings of equal reward have different advantages in {} of {} groups{}{because}",
            share.hits,
            share.tries,
            share.side.told()
        ),
        "see that rows are in the order in which the baseline takes them (repeat_interleave, not repeat), and that \
         group_id is of the same response as the advantage",
        evidence,
    )
    .before(share.side.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_rewards_are_held_against_each_other() {
        let fact = |(reward, part, advantage): (f32, f32, f32)| ResponseFact {
            reward,
            parts: [part].into(),
            advantage,
            ..ResponseFact::default()
        };
        let group = |of: &[(f32, f32, f32)]| of.iter().copied().map(fact).collect::<Vec<_>>();
        assert_eq!(apart(&group(&[(1.0, 0.0, 0.5), (0.0, 0.0, -0.5)])), None);
        assert_eq!(apart(&group(&[(1.0, 0.0, 0.5), (1.0, 1.0, -0.5)])), None, "normalised part by part");
        assert_eq!(apart(&group(&[(1.0, 0.0, 0.5), (1.0, 0.0, -0.25), (0.0, 0.0, -1.0)])), Some(0.75));
    }
}
