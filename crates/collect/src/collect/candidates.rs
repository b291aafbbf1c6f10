//! The candidates (A > 0, p < τ_p) one by one, with their context; in memory while they are few,
//! in sorted temporary files when they are many.

mod encoding;
mod store;

pub use store::{CandidateBuffer, CandidateStore};

use std::cmp::Ordering;

use super::claim_tokens::UnitNorm;
use super::tally::BatchKey;
use stapo_batch::batch::Id;
use stapo_framework::corrections::ResponseRatios;

/// A token that the mask may silence: A > 0 and p < τ_p.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Its batch.
    pub batch: BatchKey,
    /// Mini-batch inside the step as logged, also where batches are steps.
    pub update: Option<i64>,
    /// Group.
    pub group: Id,
    /// Response id.
    pub sample: Id,
    /// Scan unit and ordinal of the response in it: gives its row after the scan.
    pub place: (u32, u64),
    /// Position in the response.
    pub position: i32,
    /// Token id, or the missing one.
    pub token_id: i32,
    /// ln p.
    pub logprob: f32,
    /// H.
    pub entropy: f32,
    /// A.
    pub advantage: f32,
    /// Reward of the response; NaN where not logged.
    pub reward: f32,
    /// Measured entropy change; NaN where not logged.
    pub measured_change: f32,
    /// ‖g‖²: lower end, value, upper end.
    pub energy: [f64; 3],
    /// Entropy change: lower and upper end.
    pub change: [f64; 2],
    /// Bits of [`stapo_framework::batch::flags`].
    pub flags: u8,
    /// ‖g‖/|w|.
    pub norm: UnitNorm,
    /// Ids of the tokens around it.
    pub context: Vec<i32>,
    /// Texts of the tokens around it, where logged.
    pub texts: Option<Vec<Box<str>>>,
    /// Which of the tokens around it is the candidate.
    pub centre: u32,
    /// What was noted of it for other questions.
    pub facts: CandidateFacts,
}

/// What other questions need of a candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CandidateFacts {
    /// ln π_old − ln μ; NaN where not logged.
    pub engine: f64,
    /// The same over its response.
    pub response: ResponseRatios,
    /// The random group of its cluster.
    pub replicate: u8,
    /// Its key in every dimension.
    pub slices: Vec<u64>,
}

impl Candidate {
    /// The order of tables: by what identifies the token, then by its numbers; the place in the
    /// files comes last, so it only decides between tokens that are alike in all else.
    pub fn order(&self, other: &Self) -> Ordering {
        let name = |c: &Self| (c.batch, c.update, c.position, c.token_id);
        let first = |c: &Self| (c.batch, c.update);
        first(self)
            .cmp(&first(other))
            .then_with(|| self.group.cmp(&other.group))
            .then_with(|| self.sample.cmp(&other.sample))
            .then_with(|| name(self).cmp(&name(other)))
            .then_with(|| self.numbers().cmp(&other.numbers()))
            .then_with(|| self.energy.map(f64::to_bits).cmp(&other.energy.map(f64::to_bits)))
            .then_with(|| self.context.cmp(&other.context))
            .then_with(|| self.texts.cmp(&other.texts))
            .then_with(|| self.place.cmp(&other.place))
    }

    fn numbers(&self) -> ([u32; 5], u64) {
        let numbers = [self.logprob, self.entropy, self.advantage, self.reward, self.measured_change];
        (numbers.map(f32::to_bits), self.norm.value.to_bits())
    }

    /// Bytes it takes in memory, about.
    fn bytes(&self) -> usize {
        let texts = self.texts.as_deref().unwrap_or_default();
        std::mem::size_of::<Self>()
            + 4 * self.context.len()
            + 8 * self.facts.slices.len()
            + texts.iter().map(|t| t.len() + 16).sum::<usize>()
    }
}
