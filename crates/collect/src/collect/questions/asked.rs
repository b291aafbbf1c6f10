//! What is asked about.

use crate::collect::columns::Columns;
use crate::collect::tally::BatchKey;
use stapo_batch::batch::TokenBatch;

/// A response as far as these questions need it.
pub struct Asked<'a> {
    /// The batch it is in.
    pub source: &'a TokenBatch,
    /// Its index there.
    pub index: usize,
    /// Step.
    pub step: i64,
    /// Mini-batch inside of the step, where logged.
    pub update: Option<i64>,
    /// What its threshold is taken over.
    pub batch: BatchKey,
    /// The hash of its group, else of itself.
    pub cluster: u64,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Its trained tokens.
    pub trained: &'a Columns<'a>,
    /// All its tokens.
    pub whole: &'a Columns<'a>,
    /// The indices of its trained tokens, where not all are.
    pub picks: Option<&'a [u32]>,
}

impl Asked<'_> {
    /// The token of the response that trained token `t` is.
    pub fn token(&self, t: usize) -> usize {
        self.picks.map_or(t, |picks| picks[t] as usize)
    }
}
