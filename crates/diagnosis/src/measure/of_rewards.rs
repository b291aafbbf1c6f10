//! The measures of rewards and advantages, each computed when it is first asked for.

use super::Measures;
use super::advantages::Advantages;
use super::asked::{Explained, explained};
use super::copies::{Copies, EqualResponses, copies, equal_responses};
use super::held_out::{Fall, fall};
use super::right::{Dead, Rests, dead, rests};
use super::trained::{NearEmpty, near_empty, totals};
use stapo_evidence::Column;
use stapo_evidence::rewards::StepCounts;
use std::sync::OnceLock;

/// What was computed so far.
#[derive(Debug, Default)]
pub struct OfRewards {
    totals: OnceLock<StepCounts>,
    near_empty: OnceLock<NearEmpty>,
    advantages: OnceLock<Advantages>,
    explained: OnceLock<Vec<Explained>>,
    copies: OnceLock<Copies>,
    equal: OnceLock<EqualResponses>,
    rests: OnceLock<Rests>,
    dead: OnceLock<Dead>,
    fall: OnceLock<Option<Fall>>,
}

impl Measures<'_> {
    /// Whether what stands in a group answers one question: prompts are known, or steps have several groups.
    pub fn knows_siblings(&self) -> bool {
        let rewards = &self.evidence.rewards;
        self.evidence.logged.has(Column::Prompt) || rewards.groups.sets().count() > rewards.steps.len()
    }

    /// Counts over all steps.
    pub fn totals(&self) -> &StepCounts {
        self.of_rewards.totals.get_or_init(|| totals(&self.evidence.rewards))
    }

    /// Responses of next to nothing with the lowest reward.
    pub fn near_empty(&self) -> &NearEmpty {
        self.of_rewards.near_empty.get_or_init(|| near_empty(&self.evidence.rewards))
    }

    /// Advantages against rewards.
    pub fn advantages(&self) -> &Advantages {
        self.of_rewards.advantages.get_or_init(|| Advantages::of(&self.evidence.rewards))
    }

    /// How much of the reward its parts explain, by slice.
    pub fn explained(&self) -> &[Explained] {
        self.of_rewards.explained.get_or_init(|| explained(&self.evidence.rewards, self.evidence.parts()))
    }

    /// Copies among siblings.
    pub fn copies(&self) -> &Copies {
        self.of_rewards.copies.get_or_init(|| copies(&self.evidence.rewards))
    }

    /// Rewards of equal siblings.
    pub fn equal_responses(&self) -> &EqualResponses {
        self.of_rewards.equal.get_or_init(|| equal_responses(&self.evidence.rewards))
    }

    /// What advantages rest on.
    pub fn rests(&self) -> &Rests {
        self.of_rewards.rests.get_or_init(|| rests(&self.evidence.rewards, self.evidence.parts()))
    }

    /// Groups without any advantage.
    pub fn dead(&self) -> &Dead {
        self.of_rewards.dead.get_or_init(|| dead(&self.evidence.rewards))
    }

    /// A fall of the held-out score.
    pub fn held_out_fall(&self) -> Option<&Fall> {
        self.of_rewards.fall.get_or_init(|| fall(&self.evidence.rewards)).as_ref()
    }
}
