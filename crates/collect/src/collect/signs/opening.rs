//! How a response opens: its first trained tokens, and how likely they are.

use crate::collect::columns::Columns;

/// Tokens of an opening: prompts are longer, and so many that nobody is certain of are not drawn twice.
pub const OPENING: usize = 8;

/// The first trained tokens of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Opening {
    /// Hash of their ids.
    pub ids: u64,
    /// Σ ln p, the trainer's or the sampler's, whichever is larger: a sampler may be sharper.
    pub logprob: f32,
    /// Mean of −ln p − H.
    pub excess: f32,
}

impl Opening {
    /// Of a response that goes on after it; `ids` is the hash of its tokens.
    pub fn of(ids: u64, trained: &Columns<'_>) -> Option<Self> {
        let sum = |values: &[f32]| values.iter().sum::<f32>();
        let of = |values: &[f32]| values.get(..OPENING).map(sum);
        let logprob = of(trained.logprob).filter(|_| trained.len() > OPENING)?;
        let sampler = of(trained.logprob_rollout).filter(|sum| sum.is_finite());
        let excess = (-logprob - of(trained.entropy)?) / OPENING as f32;
        Some(Self { ids, logprob: sampler.map_or(logprob, |sampler| sampler.max(logprob)), excess })
    }

    /// All of it as bits, for an order.
    pub fn bits(&self) -> (u64, u32, u32) {
        (self.ids, self.logprob.to_bits(), self.excess.to_bits())
    }
}
