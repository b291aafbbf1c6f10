//! What these questions keep of a response from its beginning to its end.

use super::difference::{ResponseDifference, TokenDifferences};
use super::token_facts::TokenFacts;
use stapo_framework::corrections::ResponseRatios;

/// A response that was begun; used again from response to response.
#[derive(Default)]
pub struct OpenResponse {
    /// What the framework found for its tokens: block after block is added.
    pub facts: TokenFacts,
    /// The random group that it is in.
    pub(super) replicate: u8,
    /// Trainer against inference engine, token by token.
    pub(super) engine: TokenDifferences,
    /// The same of all tokens.
    pub(super) engine_total: ResponseDifference,
    /// How far its sampler is from the trainer.
    pub(super) ratios: ResponseRatios,
}

impl OpenResponse {
    /// The engine difference of the response.
    pub fn engine_difference(&self) -> &ResponseDifference {
        &self.engine_total
    }
}
