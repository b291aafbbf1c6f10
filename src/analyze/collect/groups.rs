//! Groups: the responses to one prompt within a step.

use std::collections::BTreeMap;

use super::hash::Mixer;
use super::signs::facts::Rounding;
use crate::ingest::Id;
use crate::stats::exact_sum::ExactSum;

/// What a group of a step is told by where its id is not kept.
pub fn group_hash(step: i64, id: &Id) -> Mixer {
    Mixer::new(step.cast_unsigned()).with_id(Some(id))
}

/// One group.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GroupTally {
    /// Responses.
    pub responses: u32,
    /// The largest |A| of a token.
    pub largest: f32,
    /// Responses whose outcome is known, where a rule was given.
    pub judged: u32,
    /// Of these, the right ones.
    pub right: u32,
    /// The highest reward and how many responses have it: with two rewards in all, the right ones.
    pub highest: Highest,
    /// Trained tokens with all values.
    pub tokens: u64,
    /// ‖g‖².
    pub energy: ExactSum,
}

/// The highest of some rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Highest {
    /// The bits of a reward, so that they order as the rewards do; 0 is none.
    key: u32,
    /// Responses that have it.
    pub responses: u32,
    /// Responses with any reward.
    pub rewarded: u32,
}

impl Highest {
    /// Of one reward; NaN is none.
    pub fn of(reward: f32) -> Self {
        match reward.is_nan() {
            true => Self::default(),
            false => Self { key: ordered(reward), responses: 1, rewarded: 1 },
        }
    }

    /// How many have the reward `value`, if it is the highest of all groups.
    pub fn at(&self, value: f32) -> u32 {
        if self.key == ordered(value) { self.responses } else { 0 }
    }

    fn merge(&mut self, other: &Self) {
        self.rewarded += other.rewarded;
        match self.key.cmp(&other.key) {
            std::cmp::Ordering::Less => (self.key, self.responses) = (other.key, other.responses),
            std::cmp::Ordering::Equal => self.responses += other.responses,
            std::cmp::Ordering::Greater => {}
        }
    }
}

/// Bits that order as numbers do, above 0. The two zeros are one.
fn ordered(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | (1 << 31) }
}

/// The distinct rewards of a run, as far as it matters whether there are two.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RewardValues(Vec<f32>);

impl RewardValues {
    /// Puts what may come in any order into one: of more than two it does not matter which.
    pub fn settle(&mut self) {
        if self.0.len() > 2 {
            self.0 = vec![f32::NAN; 3];
        }
        self.0.iter_mut().for_each(|value| *value += 0.0);
        self.0.sort_by(f32::total_cmp);
    }

    /// Notes a reward; NaN is none.
    #[inline]
    pub fn add(&mut self, reward: f32) {
        if self.0.len() < 3 && !reward.is_nan() && !self.0.contains(&reward) {
            self.0.push(reward);
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        if other.0.len() > 2 {
            self.0.clone_from(&other.0);
        }
        other.0.iter().for_each(|reward| self.add(*reward));
    }

    /// The lower and the higher one, where there are just two.
    pub fn two(&self) -> Option<[f32; 2]> {
        match self.0[..] {
            [a, b] => Some([a.min(b), a.max(b)]),
            _ => None,
        }
    }
}

impl GroupTally {
    /// Whether a token has an advantage beyond what rounding leaves.
    pub fn learns(&self, rounding: Rounding) -> bool {
        let equal = self.responses > 1 && self.highest.responses == self.responses;
        !rounding.is_none(self.largest, equal)
    }

    /// Adds responses.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.largest = self.largest.max(other.largest);
        self.judged += other.judged;
        self.right += other.right;
        self.highest.merge(&other.highest);
        self.tokens += other.tokens;
        self.energy.merge(&other.energy);
    }
}

/// All groups by step and id. A run may have millions: a tree has no empty half, needs no second copy when
/// it grows, and gives its memory back while it is merged into another.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct GroupTable {
    groups: BTreeMap<(i64, Id), GroupTally>,
    /// Responses of a group follow each other: it is looked up once.
    #[serde(skip)]
    open: Option<((i64, Id), GroupTally)>,
}

impl GroupTable {
    /// Adds a response.
    pub fn add(&mut self, step: i64, group: &Id, response: &GroupTally) {
        match &mut self.open {
            Some((key, tally)) if key.0 == step && key.1 == *group => tally.merge(response),
            _ => {
                self.close();
                self.open = Some(((step, group.clone()), *response));
            }
        }
    }

    fn close(&mut self) {
        if let Some((key, tally)) = self.open.take() {
            self.groups.entry(key).or_default().merge(&tally);
        }
    }

    /// Adds the groups of another worker.
    pub fn merge(&mut self, mut other: Self) {
        self.close();
        other.close();
        if self.groups.is_empty() {
            self.groups = other.groups;
            return;
        }
        for (key, tally) in other.groups {
            self.groups.entry(key).or_default().merge(&tally);
        }
    }

    /// A group; only after [`Self::merge`].
    pub fn get(&self, step: i64, group: &Id) -> Option<GroupTally> {
        self.groups.get(&(step, group.clone())).copied()
    }

    /// Steps, ids and tallies of all groups whose id is logged, in their order.
    pub fn by_id(&self) -> impl Iterator<Item = (i64, &Id, &GroupTally)> {
        let known = self.groups.iter().filter(|((_, id), _)| *id != Id::Missing);
        known.map(|((step, id), tally)| (*step, id, tally))
    }

    /// Steps and tallies of all groups whose id is logged.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &GroupTally)> {
        self.by_id().map(|(step, _, tally)| (step, tally))
    }
}
