//! Advantages that are what rounding leaves of 0.

use stapo_base::stats::quantile::select_quantile;
use stapo_evidence::rewards::{Rewards, Sibling};
use stapo_framework::rounding;
use stapo_framework::rounding::{ROUNDING, size_of_group};

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

impl Rounding {
    /// Of a run, by its groups.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn of(rewards: &Rewards) -> Self {
        let groups: Vec<&[Sibling]> = rewards.groups.sets().collect();
        let usual = usual_size(&groups);
        let negligible = (ROUNDING * usual) as f32;
        Self { negligible, of_equal: left_of_equal(&groups, usual).max(negligible) }
    }
}

/// |A| of a response; none where it has no trained token, or none is logged.
fn size(sibling: &Sibling) -> Option<f32> {
    Some(sibling.advantage.abs()).filter(|size| sibling.trained > 0 && size.is_finite())
}

/// The usual size of an advantage: of groups whose rewards differ, else of all.
fn usual_size(groups: &[&[Sibling]]) -> f64 {
    let differs = |group: &&&[Sibling]| {
        let mut known = group.iter().map(|r| r.reward).filter(|reward| reward.is_finite());
        let first = known.next();
        known.any(|reward| Some(reward) != first)
    };
    let of_group = |group: &&[Sibling]| {
        let squares = group.iter().filter_map(size).map(|size| f64::from(size).powi(2));
        size_of_group(squares.sum(), group.len() as u64)
    };
    if let Some(usual) = rounding::usual_size(groups.iter().filter(differs).map(of_group)) {
        return usual;
    }
    let known = || groups.iter().copied().flatten().filter_map(size).filter(|a| *a > 0.0);
    let most = select_quantile(&mut known().collect::<Vec<f32>>(), USUAL).unwrap_or(0.0);
    let plain = known().filter(|a| *a > PLAINLY_ROUNDING);
    let median = select_quantile(&mut plain.collect::<Vec<f32>>(), 0.5).unwrap_or(f64::INFINITY);
    most.min(FAR_OUT * median)
}

/// Whether all siblings have one reward.
fn have_equal_rewards(group: &[Sibling]) -> bool {
    group.len() > 1 && group.iter().all(|r| r.reward.is_finite() && r.reward == group[0].reward)
}

/// The largest |A| that rounding leaves of equal rewards: 0 where advantages are not relative to the group.
///
/// Rewards minus their mean add up to 0, so where they differ, advantages do. Equal rewards are all the same
/// distance from a mean that was rounded: their advantages are equal, and add up to something. Advantages
/// that differ come from something else than the logged reward.
fn left_of_equal(groups: &[&[Sibling]], usual: f64) -> f32 {
    let (mut judged, mut balanced, mut left) = (0, 0, 0.0_f32);
    let (mut equal, mut small) = (0, 0.0_f32);
    for group in groups {
        let sizes: f64 = group.iter().map(|r| f64::from(r.advantage).abs()).sum();
        if group.len() < 2 || !sizes.is_finite() || sizes <= 0.0 {
            continue;
        }
        if have_equal_rewards(group) {
            let largest = group.iter().filter_map(size).fold(0.0, f32::max);
            let is_equal = |r: &Sibling| (r.advantage - group[0].advantage).abs() <= EQUAL * largest;
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
