//! Which tokens are beyond the clip, by id and by probability.

use std::collections::BTreeMap;

use super::breakdown::{PROBABILITY_BINS, probability_bin};

/// Distinct ids that are counted; of more (noise) the smallest.
const IDS: usize = 1 << 18;

/// Tokens above the clip with A > 0, below with A < 0, above with A < 0, below with A > 0.
pub type Corners = [u64; 4];

/// Tokens beyond the clip.
#[derive(Clone, Debug, Default)]
pub struct ClippedTokens {
    /// By token id.
    pub ids: BTreeMap<i32, Corners>,
    /// By ln p.
    pub probability: [Corners; PROBABILITY_BINS],
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

    fn add_id(&mut self, id: i32, corners: &Corners) {
        add(self.ids.entry(id).or_default(), corners);
        if self.ids.len() > IDS {
            self.ids.pop_last();
        }
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, other: &Self) {
        self.probability.iter_mut().zip(&other.probability).for_each(|(a, b)| add(a, b));
        other.ids.iter().for_each(|(id, corners)| self.add_id(*id, corners));
    }
}

fn add(into: &mut Corners, from: &Corners) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}
