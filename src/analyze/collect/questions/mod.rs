//! What engineers ask beyond the framework, collected in the same pass: the off-policy ledger and
//! corrections, clipping by side, KL to the reference, parts of the reward, cut responses, loops,
//! slices, and whole groups for what only siblings can tell.

pub mod breakdown;
pub mod clipped_tokens;
mod collector;
pub mod corrections;
pub mod difference;
mod kept_differences;
mod perplexity;
pub mod ratio_histogram;
mod repetition;
pub mod siblings;
pub mod slice_keys;
pub mod slices;
pub mod step_facts;
pub mod token_facts;

use std::collections::BTreeMap;

pub use self::collector::QuestionCollector;

use self::breakdown::Breakdown;
use self::clipped_tokens::{ClippedTokens, TokensById};
use self::ratio_histogram::RatioHistogram;
use self::siblings::Siblings;
use self::slices::SliceTable;
use self::step_facts::StepFacts;
use super::columns::Columns;
use super::kept_entropies::KeptGate;
use super::sample::SampleGate;
use super::tally::BatchKey;
use crate::ingest::TokenBatch;

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

/// What all workers collected.
#[derive(Debug, Default)]
pub struct CollectedQuestions {
    /// By step.
    pub steps: BTreeMap<i64, StepFacts>,
    /// By the values of each dimension.
    pub slices: Vec<SliceTable>,
    /// Where the engine difference sits.
    pub engine: Breakdown,
    /// Tokens and energy by the engine difference.
    pub ratios: RatioHistogram,
    /// Where the difference to the reference sits.
    pub reference: Breakdown,
    /// Which tokens are beyond the clip.
    pub clipped: ClippedTokens,
    /// Tokens whose weight each correction of single tokens changes, by id.
    pub changed: Vec<TokensById>,
    /// Kept groups.
    pub siblings: Siblings,
}

/// What all workers share.
#[derive(Debug)]
pub struct QuestionGates {
    differences: KeptGate,
    groups: SampleGate,
}

impl QuestionGates {
    /// Gates for so many differences and tokens of whole groups.
    pub fn new(differences: u64, group_tokens: u64) -> Self {
        Self { differences: KeptGate::new(differences), groups: SampleGate::new(group_tokens) }
    }
}
