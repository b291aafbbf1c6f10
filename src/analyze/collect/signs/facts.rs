//! Responses with what is known of each: what is looked at within groups.

use std::cmp::Ordering;

use super::gaps::GapSums;
use crate::analyze::collect::kept::Kept;
use crate::analyze::collect::sample::Sampled;
use crate::framework::rounding::{self, ROUNDING, size_of_group};
use crate::stats::quantile::select_quantile;

/// Where no rewards differ: the size that a hundredth of the responses with an advantage exceeds, but no
/// more than so many times the median of those that are not plainly rounding.
const USUAL: f64 = 0.99;
const FAR_OUT: f64 = 100.0;
const PLAINLY_ROUNDING: f32 = 1e-6;
/// Equal advantages of equal rewards that are smaller than this are what rounding leaves, where no rewards
/// differ that would tell the usual size: those of normalised rewards are about 1.
const SMALL: f32 = 1e-3;
/// Advantages of a group that add up to less than this part of their sizes are relative to the group, …
const BALANCED: f64 = 2e-3;
/// … and this share of the groups must be such for the run to be so.
const MOSTLY: f64 = 0.9;
/// Groups that a statement about the run needs.
const FEWEST: usize = 5;
/// From this part of the usual size on, an advantage teaches, whatever it comes from.
const TEACHES: f64 = 0.1;
/// Advantages that differ by less than this part of their size are equal.
const EQUAL: f32 = 1e-3;

/// One response.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ResponseFact {
    /// Hash of step and group: groups are kept whole or not at all.
    pub hash: u32,
    /// Step.
    pub step: i64,
    /// The group inside the step; of its own where groups are not logged.
    pub group: u64,
    /// Hash of ids and first values of the response: an order that does not depend on files.
    pub order: u64,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Mean advantage of the trained tokens.
    pub advantage: f32,
    /// The largest |A| of a token.
    pub largest: f32,
    /// Whether a token has A > 0, and whether one has A < 0.
    pub signs: [bool; 2],
    /// Trained tokens.
    pub length: u32,
    /// Whether it was cut, where logged.
    pub truncated: Option<bool>,
    /// Mean entropy.
    pub entropy: f32,
    /// Mean of −ln p.
    pub surprisal: f32,
    /// Hash of all its tokens, observations too: equal for equal texts.
    pub text: u64,
    /// Hash of its last tokens: equal for equal endings, where the answer mostly stands.
    pub ending: u64,
    /// Whether it is right, where the user said what right is.
    pub right: Option<bool>,
    /// Gradient energy.
    pub energy: f64,
    /// How old the sampler's weights are, where logged: see [`ResponseFacts::ages_are_steps`].
    pub lag: Option<i64>,
    /// Parts of the reward in the order of the plan; NaN where not logged.
    pub parts: Box<[f32]>,
    /// Sampler against trainer, where logged.
    pub gap: Option<Box<GapSums>>,
}

impl Sampled for ResponseFact {
    fn hash(&self) -> u32 {
        self.hash
    }

    fn order(&self, other: &Self) -> Ordering {
        let bits = |v: f32| v.to_bits();
        let first = |r: &Self| {
            let values =
                (bits(r.reward), bits(r.advantage), bits(r.largest), r.length, r.text, bits(r.surprisal));
            (r.step, r.group, r.order, values)
        };
        let rest =
            |r: &Self| (bits(r.entropy), r.energy.to_bits(), r.signs, r.truncated, r.lag, r.ending, r.right);
        let parts = |r: &Self| r.parts.iter().map(|part| bits(*part)).collect::<Vec<_>>();
        let gap = |r: &Self| r.gap.as_ref().map(|gap| gap.bits());
        first(self)
            .cmp(&first(other))
            .then_with(|| rest(self).cmp(&rest(other)))
            .then_with(|| parts(self).cmp(&parts(other)))
            .then_with(|| gap(self).cmp(&gap(other)))
    }
}

/// Which advantages are what rounding leaves: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounding {
    /// |A| up to this.
    negligible: f32,
    /// |A| up to this in groups whose rewards are equal. The reward minus the mean of equal ones is a few
    /// units of its last place, which a division by their own deviation makes large.
    of_equal: f32,
}

impl Rounding {
    /// Whether the largest |A| of a group is none.
    pub fn is_none(self, largest: f32, equal_rewards: bool) -> bool {
        largest <= if equal_rewards { self.of_equal } else { self.negligible }
    }
}

/// The responses of the run, or of a sample of its groups.
#[derive(Debug, Default)]
pub struct ResponseFacts {
    /// By step, group and response.
    pub responses: Vec<ResponseFact>,
    /// One of 2^level groups was kept.
    pub level: u32,
    /// Which advantages are none.
    pub rounding: Rounding,
    /// Whether versions are step numbers; else ages are versions behind the youngest of the step.
    pub ages_are_steps: bool,
}

impl ResponseFacts {
    /// What was kept of the whole run, settled.
    pub fn new(kept: Kept<ResponseFact>) -> Self {
        let (mut responses, level) = (kept.tokens, kept.census.level());
        let rounding = forget_rounding(&mut responses);
        let ages_are_steps = count_ages(&mut responses);
        Self { responses, level, rounding, ages_are_steps }
    }

    /// The groups, each with its responses.
    pub fn groups(&self) -> impl Iterator<Item = &[ResponseFact]> {
        self.responses.chunk_by(are_siblings)
    }
}

/// Versions above their step are no step numbers (they count from 1, or updates): ages are then counted
/// from the youngest version of each step. Whether they are step numbers.
fn count_ages(responses: &mut [ResponseFact]) -> bool {
    if responses.iter().all(|r| r.lag.is_none_or(|lag| lag >= 0)) {
        return true;
    }
    for step in responses.chunk_by_mut(|a, b| a.step == b.step) {
        let youngest = step.iter().filter_map(|r| r.lag).min();
        for response in step {
            response.lag = response.lag.zip(youngest).map(|(lag, youngest)| lag.saturating_sub(youngest));
        }
    }
    false
}

fn are_siblings(a: &ResponseFact, b: &ResponseFact) -> bool {
    (a.step, a.group) == (b.step, b.group)
}

/// Forgets advantages that rounding leaves: see [`Rounding`].
#[allow(clippy::cast_possible_truncation)]
fn forget_rounding(responses: &mut [ResponseFact]) -> Rounding {
    let usual = usual_size(responses);
    let negligible = (ROUNDING * usual) as f32;
    let rounding = Rounding { negligible, of_equal: left_of_equal(responses, usual).max(negligible) };
    for group in responses.chunk_by_mut(are_siblings) {
        let equal = have_equal_rewards(group);
        // A response without a trained token has no advantage, not one of 0.
        for response in group.iter_mut().filter(|r| r.length > 0 && rounding.is_none(r.largest, equal)) {
            response.advantage = 0.0;
            response.signs = [false; 2];
        }
    }
    rounding
}

/// The usual size of an advantage: of groups whose rewards differ, else of all.
fn usual_size(responses: &[ResponseFact]) -> f64 {
    let differs = |group: &&[ResponseFact]| {
        let mut known = group.iter().map(|r| r.reward).filter(|reward| reward.is_finite());
        let first = known.next();
        known.any(|reward| Some(reward) != first)
    };
    let size = |group: &[ResponseFact]| {
        let squares = group.iter().map(|r| f64::from(r.largest).powi(2)).filter(|square| square.is_finite());
        size_of_group(squares.sum(), group.len() as u64)
    };
    let of_groups = responses.chunk_by(are_siblings).filter(differs).map(size);
    if let Some(usual) = rounding::usual_size(of_groups) {
        return usual;
    }
    let known = || responses.iter().map(|r| r.largest).filter(|a| a.is_finite() && *a > 0.0);
    let most = select_quantile(&mut known().collect::<Vec<f32>>(), USUAL).unwrap_or(0.0);
    let plain = known().filter(|a| *a > PLAINLY_ROUNDING);
    let median = select_quantile(&mut plain.collect::<Vec<f32>>(), 0.5).unwrap_or(f64::INFINITY);
    most.min(FAR_OUT * median)
}

/// Whether all siblings have one reward.
fn have_equal_rewards(group: &[ResponseFact]) -> bool {
    group.len() > 1 && group.iter().all(|r| r.reward.is_finite() && r.reward == group[0].reward)
}

/// The largest |A| that rounding leaves of equal rewards: 0 where advantages are not relative to the group.
///
/// Rewards minus their mean add up to 0, so where they differ, advantages do. Equal rewards are all the same
/// distance from a mean that was rounded: their advantages are equal, and add up to something. Advantages
/// that differ come from something else than the logged reward.
fn left_of_equal(responses: &[ResponseFact], usual: f64) -> f32 {
    let (mut judged, mut balanced, mut left) = (0, 0, 0.0_f32);
    let (mut equal, mut small) = (0, 0.0_f32);
    for group in responses.chunk_by(are_siblings) {
        let sizes: f64 = group.iter().map(|r| f64::from(r.advantage).abs()).sum();
        if group.len() < 2 || !sizes.is_finite() || sizes <= 0.0 {
            continue;
        }
        if have_equal_rewards(group) {
            let largest = group.iter().map(|r| r.largest).fold(0.0, f32::max);
            let is_equal = |r: &ResponseFact| (r.advantage - group[0].advantage).abs() <= EQUAL * largest;
            let all_equal = group.iter().all(is_equal);
            equal += 1;
            small = small.max(if all_equal { largest } else { f32::INFINITY });
            let is_left = f64::from(largest) < TEACHES * usual && all_equal;
            left = if is_left { left.max(largest) } else { left };
        } else if group.iter().all(|r| r.reward.is_finite()) {
            let sum: f64 = group.iter().map(|r| f64::from(r.advantage)).sum();
            judged += 1;
            balanced += usize::from(sum.abs() <= BALANCED * sizes);
        }
    }
    if judged == 0 && equal >= FEWEST && small < SMALL {
        return small;
    }
    let relative = judged >= FEWEST && balanced as f64 >= MOSTLY * judged as f64;
    if relative { left } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(lags: &[(i64, i64)]) -> (bool, Vec<Option<i64>>) {
        let fact = |(step, lag): &(i64, i64)| ResponseFact {
            step: *step,
            lag: Some(*lag),
            ..ResponseFact::default()
        };
        let mut facts: Vec<ResponseFact> = lags.iter().map(fact).collect();
        (count_ages(&mut facts), facts.iter().map(|fact| fact.lag).collect())
    }

    fn taught(largest: &[f32]) -> usize {
        let fact = |a: &f32| ResponseFact {
            largest: *a,
            advantage: *a,
            signs: [true, false],
            length: 1,
            ..ResponseFact::default()
        };
        let mut facts: Vec<ResponseFact> = largest.iter().map(fact).collect();
        forget_rounding(&mut facts);
        facts.iter().filter(|fact| fact.signs[0] && fact.advantage > 0.0).count()
    }

    #[test]
    fn neither_one_advantage_far_out_nor_many_of_rounding_change_the_usual_size() {
        let mut far_out = vec![0.5; 300];
        far_out[7] = 1e6;
        assert_eq!(taught(&far_out), 300);
        let dust = [vec![1e-8; 280], vec![0.5; 20]].concat();
        assert_eq!(taught(&dust), 20);
    }

    #[test]
    fn versions_that_are_no_steps_are_counted_from_the_youngest() {
        assert_eq!(ages(&[(0, 0), (1, 1), (1, 0)]), (true, vec![Some(0), Some(1), Some(0)]));
        assert_eq!(ages(&[(0, -1), (1, 0), (1, -1)]), (false, vec![Some(0), Some(1), Some(0)]));
        assert_eq!(ages(&[(8, -40), (8, -32), (9, -43)]), (false, vec![Some(0), Some(8), Some(0)]));
    }

    /// Four groups in five learn; in the others the normalisation broke.
    #[test]
    fn advantages_that_explode_make_no_others_rounding() {
        let fact = |group: u64, i: u64, size: f32| ResponseFact {
            group,
            reward: i as f32,
            advantage: if i == 0 { -size } else { size },
            largest: size,
            signs: [i != 0, i == 0],
            length: 1,
            ..ResponseFact::default()
        };
        let size = |group: u64| if group.is_multiple_of(5) { 3e6 } else { 1.0 };
        let mut facts: Vec<ResponseFact> =
            (0..40).flat_map(|group| [0, 1].map(|i| fact(group, i, size(group)))).collect();
        forget_rounding(&mut facts);
        assert!(facts.iter().all(|fact| fact.signs != [false; 2]));
    }

    /// All rewards of the run are the same: what is left of them is nothing, though it is all there is.
    #[test]
    fn rounding_is_no_advantage_where_there_is_nothing_else() {
        let taught = |advantage: f32| {
            let fact = |i: u64| ResponseFact {
                group: i / 4,
                reward: 0.2,
                advantage,
                largest: advantage,
                signs: [true, false],
                length: 1,
                ..ResponseFact::default()
            };
            let mut facts: Vec<ResponseFact> = (0..80).map(fact).collect();
            forget_rounding(&mut facts);
            facts.iter().filter(|fact| fact.signs[0]).count()
        };
        assert_eq!((taught(1e-7), taught(0.5)), (0, 80));
    }

    /// Groups of seven with these advantages for a reward of 0.3 throughout, among groups that learn.
    fn left_over(of_equal: [f32; 7], baseline: f32) -> usize {
        let fact = |group: u64, reward: f32, advantage: f32| ResponseFact {
            group,
            reward,
            advantage,
            largest: advantage.abs(),
            signs: [advantage > 0.0, advantage < 0.0],
            length: 1,
            ..ResponseFact::default()
        };
        let live = |group: u64| {
            (0..7).map(move |i| match i {
                0 => fact(group, 1.0, 6.0 + baseline),
                _ => fact(group, 0.0, -1.0 + baseline),
            })
        };
        let even = |group: u64| of_equal.map(|advantage| fact(group, 0.3, advantage));
        let mut facts: Vec<ResponseFact> = (0..20).flat_map(live).collect();
        facts.extend((20..30).flat_map(even));
        forget_rounding(&mut facts);
        facts.iter().filter(|fact| fact.group >= 20 && fact.signs != [false; 2]).count()
    }

    #[test]
    fn equal_rewards_relative_to_their_group_have_no_advantage() {
        assert_eq!(left_over([0.056; 7], 0.0), 0, "what single precision leaves, over itself and 1e-6");
        assert_eq!(left_over([0.3; 7], 0.3), 70, "of a baseline over the batch");
        assert_eq!(left_over([0.9; 7], 0.0), 70, "large enough to teach");
        let other = [0.5, -0.5, 0.5, -0.5, 0.5, -0.5, 0.0];
        assert_eq!(left_over(other, 0.0), 60, "of a reward that is not logged");
    }
}
