//! A response as the replay takes it from the log, and the columns it needs.

use stapo_base::error::Result;
use stapo_batch::batch::Id;
use stapo_batch::columns::Column;
use stapo_ingest::Run;

/// A response that is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedResponse {
    /// Its place in the log.
    pub ordinal: u64,
    /// Step of the log.
    pub step: i64,
    /// The log's own mini-batch.
    pub update: Option<i64>,
    /// Group.
    pub group: Id,
    /// Sample.
    pub sample: Id,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Whether it counts as correct; `None` where that is not known.
    pub correct: Option<bool>,
    /// R − mean of the group; NaN where not known.
    pub centred_reward: f32,
    /// Prompt and response.
    pub tokens: Vec<u32>,
    /// Where the response starts.
    pub response_start: usize,
    /// Logged log-probabilities; empty where there are none.
    pub old: Vec<f32>,
    /// Log-probabilities of the sampler; empty where there are none.
    pub rollout: Vec<f32>,
    /// Logged reference; empty where there is none.
    pub teacher: Vec<f32>,
    /// Advantages.
    pub advantage: Vec<f32>,
    /// Whether a token is trained on.
    pub trained: Vec<bool>,
}

impl LoggedResponse {
    /// Tokens of the response.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len() - self.response_start
    }

    /// Trained tokens.
    #[must_use]
    pub fn trained_tokens(&self) -> u64 {
        self.trained.iter().filter(|t| **t).count() as u64
    }

    /// Its name in messages and tables.
    #[must_use]
    pub fn name(&self) -> String {
        match (&self.group, &self.sample) {
            (Id::Missing, Id::Missing) => format!("#{}", self.ordinal),
            (Id::Missing, sample) => sample.to_string(),
            (group, Id::Missing) => format!("{group}/#{}", self.ordinal),
            (group, sample) => format!("{group}/{sample}"),
        }
    }
}

/// Columns that a replay reads where they are logged.
pub const COLUMNS: &[Column] = &[
    Column::Step,
    Column::Update,
    Column::GroupId,
    Column::SampleId,
    Column::Reward,
    Column::AdvantageSeq,
    Column::PromptIds,
    Column::Position,
    Column::TokenId,
    Column::Logprob,
    Column::LogprobRef,
    Column::LogprobRollout,
    Column::Advantage,
    Column::Mask,
];

/// Fails where the log lacks what no replay can do without.
pub fn require_columns(run: &Run) -> Result<()> {
    run.require(Column::TokenId)?;
    run.require(Column::PromptIds)?;
    if !run.has(Column::AdvantageSeq) && !run.has(Column::Reward) {
        run.require(Column::Advantage)?;
    }
    Ok(())
}
