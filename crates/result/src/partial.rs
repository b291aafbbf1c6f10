//! What can be said of a run whose log has no log-probabilities, no entropy, or no advantages: `summary.json` without what rests on it.
//!
//! Fields have the names and values of [`RunAnalysis`](super::RunAnalysis); what cannot be told is not
//! there, so that no number stands for it.

use schemars::JsonSchema;
use serde::Serialize;

use super::diagnosis::{Diagnosis, RunState};
use super::provenance::{ColumnReport, Provenance};
use super::steps::{Mismatch, StepRow};
use super::totals::Totals;
use super::warnings::Warning;
use super::{Answers, RunCore};
use crate::stand_in::StandIn;

/// Everything that was found without entropy or without advantages.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartialAnalysis {
    /// Version of the summary's schema.
    pub schema_version: u32,
    /// What is not in the log, what cannot be told therefore, and what to do.
    pub partial: Partial,
    /// The answer in plain words.
    pub verdict: PartialVerdict,
    /// Damage, causes and the order of events, as far as they can be told.
    pub diagnosis: Diagnosis,
    /// Counts and means over the run.
    pub totals: PartialTotals,
    /// What the user should know, the most serious first.
    pub warnings: Vec<Warning>,
    /// One row a step, ascending.
    pub steps: Vec<PartialStep>,
    /// What engineers ask beyond the framework.
    #[serde(flatten)]
    pub answers: Answers,
    /// Values of each column that were missing or bad.
    pub quality: Vec<ColumnReport>,
    /// Where the numbers come from.
    pub provenance: Provenance,
}

/// What is not in the log, and what that means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Partial {
    /// Columns that are not in the log.
    pub missing_columns: Vec<String>,
    /// What cannot be told therefore.
    pub cannot_tell: String,
    /// How to log them.
    pub hint: String,
    /// Where the log holds texts: what its lengths and tokens are, `tokens` or `characters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts_in: Option<TextUnit>,
}

/// What lengths of texts are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextUnit {
    /// Tokens of the tokenizer that was given.
    Tokens,
    /// Characters.
    Characters,
}

/// The answer for the first screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PartialVerdict {
    /// How the run stands, by what is logged.
    pub state: RunState,
    /// What cannot be told, then damage and causes.
    pub health: String,
    /// The first step at which something went wrong; null where nothing did.
    pub first_bad_step: Option<i64>,
}

/// Counts and means over all trained tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PartialTotals {
    /// Trained tokens (mask applied).
    pub tokens: u64,
    /// Tokens that the log's mask leaves out of training.
    pub masked_out: u64,
    /// Responses.
    pub responses: u64,
    /// Groups (prompts within a step), where logged.
    pub groups: Option<u64>,
    /// Groups in which no token has an advantage.
    pub zero_advantage_groups: Option<u64>,
    /// Distinct steps.
    pub steps: u64,
    /// Tokens with A > 0.
    pub positive: u64,
    /// Tokens with A < 0.
    pub negative: u64,
    /// Tokens with A = 0.
    pub zero_advantage: u64,
    /// Trained tokens without a usable log-probability or advantage.
    pub missing: u64,
    /// Tokens that PPO clipping cuts; `None` without `logprob_new` or `clipped`.
    pub clipped: Option<u64>,
    /// Mean reward of the responses.
    pub mean_reward: Option<f64>,
    /// Mean number of trained tokens a response.
    pub mean_length: Option<f64>,
    /// Mean probability of the sampled tokens.
    pub mean_prob: Option<f64>,
    /// Mean entropy in nats, where logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_entropy: Option<f64>,
}

impl PartialTotals {
    fn of(totals: &Totals, missing: StandIn) -> Self {
        let has_signs = !missing.advantage;
        Self {
            tokens: totals.tokens,
            masked_out: totals.masked_out,
            responses: totals.responses,
            groups: totals.groups,
            zero_advantage_groups: totals.zero_advantage_groups.filter(|_| has_signs),
            steps: totals.steps,
            positive: totals.positive,
            negative: totals.negative,
            zero_advantage: if has_signs { totals.zero_advantage } else { 0 },
            missing: if has_signs { totals.missing } else { totals.tokens },
            clipped: totals.clipped.filter(|_| has_signs),
            mean_reward: totals.mean_reward,
            mean_length: totals.mean_length,
            mean_prob: totals.mean_prob.filter(|_| !missing.logprob),
            mean_entropy: totals.mean_entropy.filter(|_| !missing.entropy),
        }
    }
}

/// The run at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PartialStep {
    /// Step.
    pub step: i64,
    /// Trained tokens.
    pub tokens: u64,
    /// Responses.
    pub responses: u64,
    /// Groups, where logged.
    pub groups: Option<u64>,
    /// Groups in which no token has an advantage.
    pub zero_advantage_groups: Option<u64>,
    /// Mean reward of the responses.
    pub mean_reward: Option<f64>,
    /// Standard deviation of the rewards.
    pub reward_std: Option<f64>,
    /// Mean number of trained tokens a response.
    pub mean_length: Option<f64>,
    /// Mean probability of the sampled tokens.
    pub mean_prob: Option<f64>,
    /// Mean entropy in nats, where logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_entropy: Option<f64>,
    /// Tokens with A > 0.
    pub positive: u64,
    /// Tokens with A < 0.
    pub negative: u64,
    /// Tokens with A = 0.
    pub zero_advantage: u64,
    /// Tokens without a usable log-probability or advantage.
    pub missing: u64,
    /// Share of the tokens that PPO clipping cuts.
    pub clipped_share: Option<f64>,
    /// Trainer against inference engine, where both are logged.
    pub mismatch: Option<Mismatch>,
    /// k3 of the update, where logged.
    pub update_k3: Option<f64>,
    /// Largest ratio of the policies.
    pub largest_ratio: Option<f64>,
    /// k3 to the reference, where logged.
    pub reference_k3: Option<f64>,
}

impl PartialStep {
    fn of(row: &StepRow, missing: StandIn) -> Self {
        let has_signs = !missing.advantage;
        Self {
            step: row.step,
            tokens: row.tokens,
            responses: row.responses,
            groups: row.groups,
            zero_advantage_groups: row.zero_advantage_groups.filter(|_| has_signs),
            mean_reward: row.mean_reward,
            reward_std: row.reward_std,
            mean_length: row.mean_length,
            mean_prob: row.mean_prob.filter(|_| !missing.logprob),
            mean_entropy: row.mean_entropy.filter(|_| !missing.entropy),
            positive: row.positive,
            negative: row.negative,
            zero_advantage: if has_signs { row.zero_advantage } else { 0 },
            missing: if has_signs { row.missing } else { row.tokens },
            clipped_share: row.clipped_share.filter(|_| has_signs),
            mismatch: row.mismatch.clone(),
            update_k3: row.update_k3,
            largest_ratio: row.largest_ratio,
            reference_k3: row.reference_k3,
        }
    }
}

impl PartialAnalysis {
    /// What is left of a result that was collected with a stand-in for what is missing.
    pub fn of(core: RunCore, partial: Partial, missing: StandIn) -> Self {
        Self {
            schema_version: core.schema_version,
            partial,
            verdict: PartialVerdict {
                state: core.verdict.state,
                health: core.verdict.health,
                first_bad_step: core.verdict.first_bad_step,
            },
            diagnosis: core.diagnosis,
            totals: PartialTotals::of(&core.totals, missing),
            warnings: core.warnings,
            steps: core.steps.iter().map(|row| PartialStep::of(row, missing)).collect(),
            answers: core.answers,
            quality: core.quality,
            provenance: core.provenance,
        }
    }
}
