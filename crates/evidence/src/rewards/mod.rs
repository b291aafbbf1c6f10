//! What was asked of the policy: rewards and their parts, advantages, which tokens were trained, copies among siblings,
//! held-out scores.
//!
//! Counts are of all responses, by step. What needs a whole group or a whole step (a mean that must be 0, copies,
//! another grouping) is kept response by response for a bounded sample of groups and steps.

mod ending;
mod hash;
mod response_facts;
mod step_counts;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod turn_edges;
mod whole;

pub use ending::Ending;
pub use response_facts::{NO_ADVANTAGE, Sibling};
pub use step_counts::{Longest, StepCounts};
pub use turn_edges::{Means, TurnEdges};
pub use whole::{Placed, Whole};

use self::hash::of_text;
use self::response_facts::ResponseFacts;
use crate::{Response, mix};
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Responses whose groups are kept, about 100 bytes each.
pub const SIBLINGS: usize = 1 << 17;
/// Responses whose steps are kept, 16 bytes each.
pub const PLACES: usize = 1 << 18;
/// Responses of held-out groups that are kept.
pub const HELD_OUT: usize = 1 << 17;
/// Slices whose names are kept; further ones are one more.
const SLICES: usize = 1 << 12;

/// Where a response stood in its step, and its advantage: what another grouping of the step is tried with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Order in the log.
    pub place: u64,
    /// Its group, hashed with its step.
    pub group: u64,
    /// Advantage of its trained tokens.
    pub advantage: f32,
}

impl Placed for Place {
    fn order(&self) -> (u64, u64) {
        (self.place, self.group ^ u64::from(self.advantage.to_bits()))
    }
}

/// A held-out response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Hash of it.
    pub hash: u64,
    /// Trainer step at which it was written.
    pub step: i64,
    /// Hash of its question: of the prompt, else of the group.
    pub question: u64,
    /// Score.
    pub reward: f32,
}

impl Placed for HeldOut {
    fn order(&self) -> (u64, u64) {
        (self.hash, self.question ^ u64::from(self.reward.to_bits()))
    }
}

/// The evidence on rewards and advantages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Accumulate)]
pub struct Rewards {
    /// Counts by step, over all training responses.
    pub steps: BTreeMap<i64, StepCounts>,
    /// Whole groups, by the hash of (step, group).
    pub groups: Whole<Sibling, SIBLINGS>,
    /// Whole steps, by the hash of the step.
    pub places: Whole<Place, PLACES>,
    /// Held-out responses by question, at all steps.
    pub held_out: Whole<HeldOut, HELD_OUT>,
    /// Surprisal where turns meet.
    pub turn_edges: TurnEdges,
    /// Names of slices, by hash.
    pub slices: Names,
}

impl Rewards {
    /// Adds a response.
    pub fn add(&mut self, response: &Response<'_>) {
        if response.held_out {
            return self.add_held_out(response);
        }
        let facts = ResponseFacts::of(response);
        self.steps
            .entry(response.step)
            .or_default()
            .add(&facts, u32::try_from(response.len()).unwrap_or(u32::MAX));
        self.turn_edges.add(response);
        let step = mix(0, response.step.cast_unsigned());
        let group = mix(step, response.group);
        let advantage = facts.advantage.value;
        self.places.add(step, || Place { place: response.place, group, advantage });
        let slice = self.slices.hash_of(response.slice);
        self.groups.add(group, || facts.sibling(response, slice));
    }

    /// Gives scan units other numbers.
    pub fn renumber(&mut self, unit: impl Fn(u32) -> u32) {
        self.places.for_each(|kept| kept.place = renumbered(kept.place, &unit));
    }

    fn add_held_out(&mut self, response: &Response<'_>) {
        let &Response { hash, step, reward, .. } = response;
        let question = mix(0, response.prompt.unwrap_or(response.group));
        if reward.is_finite() {
            self.held_out.add(question, || HeldOut { hash, step, question, reward });
        }
    }
}

/// Bits of a place for the response's place in its unit.
const IN_UNIT: u32 = 40;

/// A place of a response in the log.
#[must_use]
pub fn place(unit: u32, response: u64) -> u64 {
    (u64::from(unit) << IN_UNIT) | (response & ((1 << IN_UNIT) - 1))
}

#[allow(clippy::cast_possible_truncation)] // 24 bits
fn renumbered(old: u64, unit: impl Fn(u32) -> u32) -> u64 {
    place(unit((old >> IN_UNIT) as u32), old)
}

/// Names by hash: those with the least hashes, where they are too many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names(BTreeMap<u32, String>);

impl Names {
    /// The hash of a name, which is kept.
    #[allow(clippy::cast_possible_truncation)] // a shorter hash will do
    fn hash_of(&mut self, name: &str) -> u32 {
        let hash = (of_text(name) >> 32) as u32;
        if let Entry::Vacant(free) = self.0.entry(hash) {
            free.insert(name.to_owned());
            self.cut();
        }
        hash
    }

    /// The name with a hash.
    #[must_use]
    pub fn get(&self, hash: u32) -> Option<&str> {
        self.0.get(&hash).map(String::as_str)
    }

    fn cut(&mut self) {
        while self.0.len() > SLICES {
            self.0.pop_last();
        }
    }
}

impl Accumulate for Names {
    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(hash, name)| {
            self.0.entry(hash).or_insert(name);
        });
        self.cut();
    }
}
