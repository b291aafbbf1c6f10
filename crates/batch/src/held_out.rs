//! Responses of evaluation, which stand in a log beside those that are trained on: their values, without their tokens.

use crate::batch::{Origin, ResponseColumns, TokenBatch};

/// Some responses of evaluation: a series of their own, from which nothing is learned.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// File and unit that they come from; which of the unit's responses they are is not kept.
    pub origin: Origin,
    /// Step, ids, texts, reward and its parts, as far as a scan reads them.
    pub responses: ResponseColumns,
    /// A hash of the prompt of each, where logged.
    pub prompts: Vec<Option<u64>>,
    /// Tokens of each.
    pub lengths: Vec<usize>,
}

impl HeldOut {
    /// These responses of a batch.
    pub fn of(batch: &TokenBatch, chosen: &[usize]) -> Self {
        let mut responses = batch.responses.pick(chosen);
        responses.prompt_ids = None;
        Self {
            origin: Origin { first_response: 0, ..batch.origin },
            responses,
            prompts: chosen.iter().map(|i| batch.responses.prompt_hash(*i)).collect(),
            lengths: chosen.iter().map(|i| batch.range(*i).len()).collect(),
        }
    }

    /// Number of responses.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no response.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }
}
