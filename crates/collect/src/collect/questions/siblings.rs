//! Whole groups, kept for what only siblings together can tell: what moves the advantage, and length by outcome.
//!
//! Groups are kept while their tokens fit; of a larger run, those whose hash has enough leading zeros.
//! How many is enough depends on the groups alone, so it is the same sample for any order of files and
//! any number of threads, and a group need not lie in one place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Asked;
use crate::collect::kept_sample::Census;
use crate::collect::rows::{Place, Row, places};
use crate::collect::sample::{SampleGate, largest_hash};
use crate::collect::tally::BatchKey;
use crate::plan::Questions;
use stapo_base::simd;
use stapo_batch::batch::Id;
use stapo_batch::columns::Column;
use stapo_ingest::right::RightRule;

/// What a response takes beside its tokens, as so many of them: lists of its own, its place in its group.
const RESPONSE: u64 = 64;

/// A response of a kept group.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sibling {
    /// The batch it is in.
    pub batch: BatchKey,
    /// Which row of which response it is, where a response may have several.
    pub row: Row,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Whether it is right, where a rule was given.
    pub right: Option<bool>,
    /// Mean advantage of its trained tokens; NaN without any.
    pub advantage: f32,
    /// Trained tokens.
    pub trained: u32,
    /// The parts of its reward, in the order of the plan; NaN where not logged.
    pub parts: Vec<f32>,
    /// All its token ids: siblings are put into one order by them.
    pub ids: Vec<i32>,
}

impl Sibling {
    /// Whether it is right, where known.
    pub fn right_by(&self, rule: &RightRule) -> Option<bool> {
        let is = |value: f32, high: f32| (!value.is_nan()).then_some(value == high);
        match rule {
            RightRule::Given(_) => self.right,
            RightRule::Part { part, values: [_, high], .. } => is(*self.parts.get(*part)?, *high),
            RightRule::Reward([_, high]) => is(self.reward, *high),
        }
    }

    /// Orders by content: siblings come from workers in any order.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        (&self.ids, self.batch, self.reward.to_bits())
            .cmp(&(&other.ids, other.batch, other.reward.to_bits()))
            .then_with(|| bits(&self.parts).cmp(&bits(&other.parts)))
            .then_with(|| {
                let rest = |s: &Self| (s.right, s.advantage.to_bits(), s.trained);
                rest(self).cmp(&rest(other))
            })
            .then_with(|| self.row.cmp(&other.row))
    }
}

/// A kept group.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SiblingGroup {
    /// Its id.
    pub id: Id,
    /// Its responses.
    pub siblings: Vec<Sibling>,
}

impl SiblingGroup {
    /// What each row is to its response; `None` where each is a response.
    pub fn places(&self) -> Option<Vec<Place>> {
        places(&self.siblings.iter().map(|sibling| sibling.row).collect::<Vec<_>>())
    }
}

/// The kept groups of one worker, by step and hash.
#[derive(Debug)]
pub struct SiblingStore<'a> {
    gate: &'a SampleGate,
    groups: BTreeMap<(i64, u64), SiblingGroup>,
    fresh: [u64; 33],
    level: u32,
}

/// The kept groups of a run, or of a part of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Siblings {
    /// By step and hash; siblings in an order of their own once settled.
    pub groups: BTreeMap<(i64, u64), SiblingGroup>,
    census: Census,
}

impl Siblings {
    /// One of 2^level groups was kept.
    pub fn level(&self) -> u32 {
        self.census.level()
    }

    /// Adds the groups of another part.
    pub fn merge(&mut self, other: Self) {
        self.census.merge(&other.census);
        let cut = largest_hash(self.level());
        for (key, mut group) in other.groups {
            match self.groups.get_mut(&key) {
                Some(into) => into.siblings.append(&mut group.siblings),
                None => {
                    self.groups.insert(key, group);
                }
            }
        }
        self.groups.retain(|(_, cluster), _| (cluster >> 32) as u32 <= cut);
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.groups.values_mut().for_each(|group| group.siblings.sort_by(Sibling::order));
    }

    /// Leaves out the rows that have the tokens of another update's again: they are no more siblings.
    pub fn leave_out_copies(&mut self) {
        for group in self.groups.values_mut() {
            if let Some(places) = group.places() {
                let mut places = places.into_iter();
                group.siblings.retain(|_| places.next() != Some(Place::Again));
            }
        }
    }

    /// Lets a gate keep no more of another part than both together keep.
    pub fn bound(&self, gate: &SampleGate) {
        gate.follow(self.census.level());
    }

    /// Whether they were kept within the limit of `gate`.
    pub fn fits(&self, gate: &SampleGate) -> bool {
        self.census.fits(gate)
    }
}

impl<'a> SiblingStore<'a> {
    /// An empty store.
    pub fn new(gate: &'a SampleGate) -> Self {
        Self { gate, groups: BTreeMap::new(), fresh: [0; 33], level: 0 }
    }

    /// Whether a response is of a group that is to be kept.
    fn takes(&self, asked: &Asked<'_>) -> bool {
        let hash = (asked.cluster >> 32) as u32;
        // Without ids, as in a file that lacks them, a response is like no other.
        hash <= largest_hash(self.level) && !asked.whole.token_id.is_empty()
    }

    /// Keeps a response, if its group is to be kept.
    #[allow(clippy::cast_possible_truncation)]
    pub fn add(&mut self, plan: &Questions, asked: &Asked<'_>) {
        let Some(group @ (Id::Int(_) | Id::Text(_))) =
            asked.source.ids(Column::GroupId).map(|ids| &ids[asked.index])
        else {
            return;
        };
        if !self.takes(asked) {
            return;
        }
        let hash = (asked.cluster >> 32) as u32;
        let ids = asked.whole.token_id.to_vec();
        self.fresh[hash.leading_zeros() as usize] += ids.len() as u64 + RESPONSE;
        let responses = &asked.source.responses;
        let part = |name: &String| {
            let part = responses.reward_parts.iter().find(|(part, _)| **part == **name);
            part.map_or(f32::NAN, |(_, values)| values[asked.index])
        };
        let sum = simd::sum(asked.trained.advantage);
        let row = match plan.several_rows {
            true => Row::of(asked.source, asked.index, asked.cluster, asked.reward, f32::NAN),
            false => Row::default(),
        };
        let sibling = Sibling {
            batch: asked.batch,
            row,
            reward: asked.reward,
            right: plan.pass.as_ref().and_then(|rule| rule.judge(responses, asked.index)),
            advantage: (sum / asked.trained.len() as f64) as f32,
            trained: asked.trained.len() as u32,
            parts: plan.parts.iter().map(part).collect(),
            ids,
        };
        let empty = || SiblingGroup { id: group.clone(), siblings: Vec::new() };
        self.groups.entry((asked.step, asked.cluster)).or_insert_with(empty).siblings.push(sibling);
    }

    /// Tells the gate what is new and drops what no longer belongs.
    pub fn settle(&mut self) {
        self.gate.report(&self.fresh);
        self.fresh = [0; 33];
        if self.gate.level() > self.level {
            self.level = self.gate.level();
            let cut = largest_hash(self.level);
            self.groups.retain(|(_, cluster), _| (cluster >> 32) as u32 <= cut);
        }
    }

    /// Gathers the stores of all workers.
    pub fn gather(stores: impl IntoIterator<Item = Self>, gate: &SampleGate) -> Siblings {
        let mut stores: Vec<Self> = stores.into_iter().collect();
        // Each tells what it has first, so that all drop the same.
        stores.iter_mut().for_each(Self::settle);
        let mut merged = Siblings { groups: BTreeMap::new(), census: Census::of(gate) };
        for mut store in stores {
            store.settle();
            for (key, mut group) in store.groups {
                match merged.groups.get_mut(&key) {
                    Some(into) => into.siblings.append(&mut group.siblings),
                    None => {
                        merged.groups.insert(key, group);
                    }
                }
            }
        }
        merged
    }
}
