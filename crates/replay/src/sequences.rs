//! Between responses of the log and what a model takes and gives.

use super::log::LoggedResponse;
use super::model::{Sequence, TokenStats};

/// Responses as the model takes them.
#[must_use]
pub fn sequences(responses: &[LoggedResponse]) -> Vec<Sequence> {
    let one = |r: &LoggedResponse| Sequence { tokens: r.tokens.clone(), response_start: r.response_start };
    responses.iter().map(one).collect()
}

/// ln π of every token.
#[must_use]
pub fn logprobs(stats: Vec<TokenStats>) -> Vec<Vec<f32>> {
    stats.into_iter().map(|s| s.logprob).collect()
}
