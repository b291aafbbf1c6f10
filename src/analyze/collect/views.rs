//! The responses with the most unexplained surprise, kept whole.

use crate::analyze::result::cases::{VIEW_LIMIT, VIEW_TOKENS};
use crate::ingest::Id;

use super::tally::BatchKey;

/// A response that is kept whole.
#[derive(Clone, Debug)]
pub struct KeptResponse {
    /// Sum of the risk of its candidates.
    pub risk: f64,
    /// Its batch.
    pub batch: BatchKey,
    /// Mini-batch as logged.
    pub update: Option<i64>,
    /// Group.
    pub group: Id,
    /// Response id.
    pub sample: Id,
    /// Scan unit and ordinal in it.
    pub place: (u32, u64),
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Tokens of the response.
    pub length: usize,
    /// The first token that is kept.
    pub first: usize,
    /// Token ids; empty where not logged.
    pub token_ids: Vec<i32>,
    /// Texts, where logged.
    pub texts: Option<Vec<Box<str>>>,
    /// Whether trained on.
    pub trained: Vec<bool>,
    /// ln p.
    pub logprob: Vec<f32>,
    /// H.
    pub entropy: Vec<f32>,
    /// A.
    pub advantage: Vec<f32>,
    /// ‖g‖.
    pub norm: Vec<f32>,
}

impl KeptResponse {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        other
            .risk
            .total_cmp(&self.risk)
            .then_with(|| (self.batch, self.update).cmp(&(other.batch, other.update)))
            .then_with(|| self.group.cmp(&other.group))
            .then_with(|| self.sample.cmp(&other.sample))
            .then_with(|| self.token_ids.cmp(&other.token_ids))
            .then_with(|| bits(&self.logprob).cmp(&bits(&other.logprob)))
            .then_with(|| self.place.cmp(&other.place))
    }
}

/// The stretch of a response that is kept: all of it, or what is around `centre`.
pub fn kept_stretch(length: usize, centre: usize) -> std::ops::Range<usize> {
    let first = centre.saturating_sub(VIEW_TOKENS / 2).min(length.saturating_sub(VIEW_TOKENS));
    first..length.min(first + VIEW_TOKENS)
}

/// The best responses so far, best first.
#[derive(Debug, Default)]
pub struct TopResponses(Vec<KeptResponse>);

impl TopResponses {
    /// Whether a response of this risk may enter.
    pub fn admits(&self, risk: f64) -> bool {
        risk > 0.0 && self.0.get(VIEW_LIMIT - 1).is_none_or(|last| risk >= last.risk)
    }

    /// Enters a response.
    pub fn add(&mut self, response: KeptResponse) {
        let at = self.0.partition_point(|known| known.order(&response).is_le());
        if at < VIEW_LIMIT {
            self.0.insert(at, response);
            self.0.truncate(VIEW_LIMIT);
        }
    }

    /// Adds the responses of another worker.
    pub fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|response| self.add(response));
    }

    /// The responses, best first.
    pub fn responses(&self) -> &[KeptResponse] {
        &self.0
    }
}
