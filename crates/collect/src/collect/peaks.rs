//! The tokens with the largest gradient norms of a batch: what a spike of energy is made of.

use std::cmp::Ordering;

use super::ranking::{Ranked, Ranking};

/// Tokens kept a batch.
pub const PEAKS: usize = 5;

/// A token with a large gradient norm.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PeakToken {
    /// ‖g‖².
    pub energy: f64,
    /// Token id, or the missing one.
    pub token_id: i32,
    /// Position in its response.
    pub position: i32,
    /// ln p.
    pub logprob: f32,
    /// H.
    pub entropy: f32,
    /// A.
    pub advantage: f32,
    /// Its text, where logged.
    pub text: Option<Box<str>>,
}

impl Ranked for PeakToken {
    fn energy(&self) -> f64 {
        self.energy
    }

    fn rank(&self, other: &Self) -> Ordering {
        let numbers = |t: &Self| (t.token_id, t.position);
        other
            .energy
            .total_cmp(&self.energy)
            .then_with(|| numbers(self).cmp(&numbers(other)))
            .then_with(|| self.logprob.total_cmp(&other.logprob))
            .then_with(|| self.entropy.total_cmp(&other.entropy))
            .then_with(|| self.advantage.total_cmp(&other.advantage))
            .then_with(|| self.text.cmp(&other.text))
    }
}

/// The largest of a batch, largest first.
pub type Peaks = Ranking<PeakToken, PEAKS>;
