//! Which tokens are beyond the clip, by id, by probability and by update; and which corrections change.

use std::collections::BTreeMap;

use super::breakdown::{PROBABILITY_BINS, probability_bin};

/// Distinct ids that are counted; of more (noise) the smallest.
const IDS: usize = 1 << 18;

/// Mini-batches that are told apart; of more the first.
const UPDATES: usize = 256;

/// Tokens above the clip with A > 0, below with A < 0, above with A < 0, below with A > 0.
pub type Corners = [u64; 4];

/// Tokens beyond the clip.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ClippedTokens {
    /// By token id.
    pub ids: BTreeMap<i32, Corners>,
    /// By ln p.
    pub probability: [Corners; PROBABILITY_BINS],
    /// By mini-batch inside of a step, where logged: trained tokens with a ratio, and the corners.
    pub updates: BTreeMap<i64, (u64, Corners)>,
}

/// Tokens by id.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TokensById(pub BTreeMap<i32, u64>);

impl TokensById {
    /// Adds tokens of an id; of more ids than are counted (noise) the smallest.
    pub fn add(&mut self, id: i32, tokens: u64) {
        *self.0.entry(id).or_default() += tokens;
        if self.0.len() > IDS {
            self.0.pop_last();
        }
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(id, tokens)| self.add(*id, *tokens));
    }
}

impl ClippedTokens {
    /// Adds a token that is at one of the corners.
    pub fn add(&mut self, id: Option<i32>, logprob: f32, corners: [bool; 4]) {
        let one = corners.map(u64::from);
        add(&mut self.probability[probability_bin(logprob)], &one);
        if let Some(id) = id.filter(|id| *id >= 0) {
            self.add_id(id, &one);
        }
    }

    /// Adds a response of a mini-batch: its tokens with a ratio, and those at the corners.
    pub fn add_update(&mut self, update: i64, tokens: u64, corners: &Corners) {
        let (all, found) = self.updates.entry(update).or_default();
        *all += tokens;
        add(found, corners);
        if self.updates.len() > UPDATES {
            self.updates.pop_last();
        }
    }

    fn add_id(&mut self, id: i32, corners: &Corners) {
        add(self.ids.entry(id).or_default(), corners);
        if self.ids.len() > IDS {
            self.ids.pop_last();
        }
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, other: &Self) {
        self.probability.iter_mut().zip(&other.probability).for_each(|(a, b)| add(a, b));
        for (update, (tokens, corners)) in &other.updates {
            self.add_update(*update, *tokens, corners);
        }
        other.ids.iter().for_each(|(id, corners)| self.add_id(*id, corners));
    }
}

fn add(into: &mut Corners, from: &Corners) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}
