//! Groups: the responses to one prompt within a step.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::rows::{Place, Row, Rows, SeveralRows, places};
use super::signs::rounding::Rounding;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_batch::batch::Id;
use stapo_batch::hash::Mixer;
use stapo_ingest::right::RightRule;

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
    /// The highest reward and how many responses have it: with two rewards in all, the right ones.
    pub highest: Highest,
    /// The same of what says which are right: 1 where the user's condition holds, else 0; else a part.
    pub verdict: Highest,
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

    /// Adds other rewards.
    pub fn merge(&mut self, other: &Self) {
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

/// How many responses are right, and of how many it is known: by their rewards and by what says which are right.
pub fn right_by(rule: &RightRule, [rewards, verdicts]: [&Highest; 2]) -> (u32, u32) {
    let (highest, right) = match rule {
        RightRule::Given(_) => (verdicts, 1.0),
        RightRule::Part { values: [_, high], .. } => (verdicts, *high),
        RightRule::Reward([_, high]) => (rewards, *high),
    };
    (highest.at(right), highest.rewarded)
}

impl GroupTally {
    /// Whether a token has an advantage beyond what rounding leaves.
    pub fn learns(&self, rounding: Rounding) -> bool {
        !rounding.is_none(self.largest, self.has_equal_rewards())
    }

    /// Whether all of several responses have one reward.
    pub fn has_equal_rewards(&self) -> bool {
        self.responses > 1 && self.highest.responses == self.responses
    }

    /// How many responses are right, and of how many it is known.
    pub fn right_by(&self, rule: &RightRule) -> (u32, u32) {
        right_by(rule, [&self.highest, &self.verdict])
    }

    /// Counts these responses instead of all rows.
    fn count<'a>(&mut self, responses: impl Iterator<Item = (&'a Row, &'a Place)>) {
        (self.responses, self.highest, self.verdict) = Default::default();
        for (row, _) in responses {
            self.responses += 1;
            self.highest.merge(&Highest::of(row.reward()));
            self.verdict.merge(&Highest::of(row.verdict()));
        }
    }

    /// Adds responses.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.largest = self.largest.max(other.largest);
        self.highest.merge(&other.highest);
        self.verdict.merge(&other.verdict);
        self.tokens += other.tokens;
        self.energy.merge(&other.energy);
    }
}

/// The groups of one step by id.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<(Id, GroupTally)>")]
pub struct GroupsOfStep(BTreeMap<Id, GroupTally>);

/// A tree that is made of sorted entries at once is half the size of one that they are put into one by one.
impl From<Vec<(Id, GroupTally)>> for GroupsOfStep {
    fn from(sorted: Vec<(Id, GroupTally)>) -> Self {
        Self(sorted.into_iter().collect())
    }
}

impl GroupsOfStep {
    /// Ids and tallies of the groups whose id is logged, in their order.
    pub fn by_id(&self) -> impl Iterator<Item = (&Id, &GroupTally)> {
        self.0.iter().filter(|(id, _)| **id != Id::Missing)
    }
}

/// All groups by step and id. A run may have millions: a tree has no empty half, needs no second copy when
/// it grows, and gives its memory back while it is merged into another.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct GroupTable {
    steps: BTreeMap<i64, GroupsOfStep>,
    /// The rows of responses, where a response may have several.
    rows: Rows,
    /// Responses of a group follow each other: it is looked up once.
    #[serde(skip)]
    open: Option<((i64, Id), GroupTally)>,
    /// The step that groups were last added to, and how many it had when they began to be.
    #[serde(skip)]
    filling: Option<(i64, usize)>,
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

    /// Remembers a row of a response that may have several.
    pub fn add_row(&mut self, row: Row) {
        self.rows.add(row);
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.rows.settle();
    }

    /// Counts every response once that has several rows, if the rows of all groups are known. Tokens and energy stay
    /// those of all rows: each trains.
    pub fn count_responses_once(&mut self) -> SeveralRows {
        let (rows, of_groups) = self.rows.take();
        let mut several = SeveralRows { of_groups, ..SeveralRows::default() };
        for (step, groups) in self.steps.iter_mut().filter(|_| !rows.is_empty()) {
            for (id, tally) in &mut groups.0 {
                let group = group_hash(*step, id).word();
                let from = rows.partition_point(|row| row.group < group);
                let of_group = &rows[from..from + rows[from..].partition_point(|row| row.group == group)];
                if let Some(places) = places(of_group) {
                    several.add(&places);
                    if of_groups == 1 {
                        tally
                            .count(of_group.iter().zip(&places).filter(|(_, place)| **place == Place::First));
                    }
                }
            }
        }
        several
    }

    fn close(&mut self) {
        if let Some(((step, id), tally)) = self.open.take() {
            if self.filling.is_none_or(|(last, _)| last != step) {
                self.pack();
                self.filling = Some((step, self.steps.get(&step).map_or(0, |groups| groups.0.len())));
            }
            self.steps.entry(step).or_default().0.entry(id).or_default().merge(&tally);
        }
    }

    /// Makes the tree of the last step anew where most of it was put in one by one: as [`GroupsOfStep::from`] has it.
    fn pack(&mut self) {
        let Some((step, before)) = self.filling.take() else { return };
        if let Some(groups) = self.steps.get_mut(&step).filter(|groups| groups.0.len() > 2 * before) {
            groups.0 = std::mem::take(&mut groups.0).into_iter().collect();
        }
    }

    /// Adds the groups of another worker.
    pub fn merge(&mut self, mut other: Self) {
        for table in [&mut *self, &mut other] {
            table.close();
            table.pack();
        }
        self.rows.merge(std::mem::take(&mut other.rows));
        for (step, groups) in other.steps {
            match self.steps.entry(step) {
                Entry::Vacant(free) => {
                    free.insert(groups);
                }
                Entry::Occupied(mut known) => {
                    for (id, tally) in groups.0 {
                        known.get_mut().0.entry(id).or_default().merge(&tally);
                    }
                }
            }
        }
    }

    /// A group; only after [`Self::merge`].
    pub fn get(&self, step: i64, group: &Id) -> Option<GroupTally> {
        self.steps.get(&step)?.0.get(group).copied()
    }

    /// The groups of each step, in their order.
    pub fn by_step(&self) -> impl Iterator<Item = (i64, &GroupsOfStep)> {
        self.steps.iter().map(|(step, groups)| (*step, groups))
    }

    /// Steps, ids and tallies of all groups whose id is logged, in their order.
    pub fn by_id(&self) -> impl Iterator<Item = (i64, &Id, &GroupTally)> {
        self.by_step().flat_map(|(step, groups)| groups.by_id().map(move |(id, tally)| (step, id, tally)))
    }
}
