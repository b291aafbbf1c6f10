//! What each whole group says of rewards and advantages.

use stapo_evidence::rewards::{NO_ADVANTAGE, Rewards, Sibling};

/// Squares about the mean below which the rewards of a group are equal, and its advantages.
const EQUAL_REWARDS: f64 = 1e-9;
const EQUAL_ADVANTAGES: f64 = 1e-12;

/// Rewards and advantages of a group.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Its responses, in the order of the log.
    pub siblings: &'a [Sibling],
    /// Trainer step.
    pub step: i64,
    /// Mean of its rewards.
    pub mean_reward: f64,
    /// Σ (r − mean)².
    reward_squares: f64,
    /// Mean of its advantages; `None` where one of them is unknown.
    pub mean_advantage: Option<f64>,
    /// Largest |A|.
    pub largest: f64,
    /// The same over those whose advantage is known, as in what follows.
    pair_squares: f64,
    /// Σ (A − mean)².
    advantage_squares: f64,
    /// Σ (r − mean)(A − mean).
    covariance: f64,
}

/// Share of groups with equal rewards that decides on all of them.
const NEARLY_ALL: f64 = 0.95;
/// What single precision leaves of equal rewards r, r − mean, divided by a deviation of 0 and 10⁻⁶ beside it (as verl does),
/// is |r| · 2^−22 · 10⁶ at most.
const ROUNDING: f64 = 0.24;

/// The groups with two rewards or more.
///
/// Where rewards are equal a group has no advantage but for rounding, which a deviation of 0 makes large. A baseline over more
/// than the group gives such groups real ones: then some of them are larger.
pub fn groups(rewards: &Rewards) -> Vec<Group<'_>> {
    let mut all: Vec<Group<'_>> = rewards.groups.sets().filter_map(Group::of).collect();
    let equal = all.iter().filter(|group| !group.is_mixed()).count() as f64;
    if all.iter().filter(|group| group.may_be_rounding()).count() as f64 >= NEARLY_ALL * equal {
        all.iter_mut().filter(|group| group.may_be_rounding()).for_each(|group| group.largest = 0.0);
    }
    all
}

impl<'a> Group<'a> {
    fn of(siblings: &'a [Sibling]) -> Option<Self> {
        let step = siblings.first()?.step;
        let value = |s: &Sibling| [f64::from(s.reward), f64::from(s.advantage)];
        let known: Vec<[f64; 2]> = siblings.iter().map(value).filter(|[r, _]| r.is_finite()).collect();
        if known.len() < 2 {
            return None;
        }
        let has_all = siblings.iter().all(|s| s.advantage.is_finite());
        let [mean_reward, _, reward_squares, ..] = moments(&known);
        let pairs: Vec<[f64; 2]> = known.into_iter().filter(|[_, a]| a.is_finite()).collect();
        let [.., pair_squares, advantage_squares, covariance] = moments(&pairs);
        let all = || siblings.iter().map(|s| f64::from(s.advantage)).filter(|a| a.is_finite());
        Some(Self {
            siblings,
            step,
            mean_reward,
            reward_squares,
            pair_squares,
            mean_advantage: has_all.then(|| all().sum::<f64>() / siblings.len() as f64),
            largest: all().fold(0.0, |largest, a| largest.max(a.abs())),
            advantage_squares,
            covariance,
        })
    }

    /// Whether its rewards differ.
    pub fn is_mixed(&self) -> bool {
        self.reward_squares > EQUAL_REWARDS
    }

    /// Whether it has equal rewards and one advantage that rounding can give.
    fn may_be_rounding(&self) -> bool {
        let is_one = self.advantage_squares <= 1e-6 * self.largest * self.largest;
        !self.is_mixed() && is_one && self.largest <= ROUNDING * self.mean_reward.abs()
    }

    /// Whether it has an advantage.
    pub fn is_advantaged(&self) -> bool {
        self.largest > NO_ADVANTAGE
    }

    /// Whether the advantages fall with the rewards, where both differ.
    pub fn contradicts(&self) -> Option<bool> {
        let both = self.pair_squares > EQUAL_REWARDS && self.advantage_squares > EQUAL_ADVANTAGES;
        both.then_some(self.covariance < -1e-9)
    }

    /// |A| / |r − mean| of the response with the largest |A|, and the median of it over its group: one number in all groups
    /// where advantages are the centred rewards; one number in each, where they are divided by the group's deviation.
    pub fn scales(&self) -> [f64; 2] {
        let scale = |s: &Sibling| {
            let apart = (f64::from(s.reward) - self.mean_reward).abs();
            let size = f64::from(s.advantage).abs();
            (apart > 1e-9 && size.is_finite()).then(|| (size, size / apart))
        };
        let known = || self.siblings.iter().filter_map(scale);
        let largest = known().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, scale)| scale);
        [largest, median(known().map(|(_, scale)| scale).collect()).unwrap_or(0.0)]
    }

    /// Hash of the slice that it is of.
    pub fn slice(&self) -> u32 {
        self.siblings.first().map_or(0, |s| s.slice)
    }

    /// Responses.
    pub fn len(&self) -> usize {
        self.siblings.len()
    }
}

/// Means of rewards and advantages, their squares about them and their products.
fn moments(known: &[[f64; 2]]) -> [f64; 5] {
    let n = known.len().max(1) as f64;
    let [mean_r, mean_a] = [0, 1].map(|of| known.iter().map(|pair: &[f64; 2]| pair[of]).sum::<f64>() / n);
    known.iter().fold([mean_r, mean_a, 0.0, 0.0, 0.0], |[mean_r, mean_a, rr, aa, ra], [r, a]| {
        let [r, a] = [r - mean_r, a - mean_a];
        [mean_r, mean_a, rr + r * r, aa + a * a, ra + r * a]
    })
}

/// The median, the lower one of two.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}
