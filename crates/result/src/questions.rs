//! What engineers ask beyond the framework: cut responses, the reference, parts of the reward, loops.
//!
//! Every part is absent where the log does not hold its columns; [`NotAnswered`] says what to log.

use schemars::JsonSchema;
use serde::Serialize;

use super::breakdown::Breakdown;

/// A question that the log cannot answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotAnswered {
    /// The part of the summary that is absent.
    pub part: String,
    /// What to log, or to ask for.
    pub needs: String,
}

/// Responses that were cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Truncated {
    /// The column that says so.
    pub from: String,
    /// Responses of which it is known.
    pub known: u64,
    /// Cut responses.
    pub responses: u64,
    /// Their share of the gradient energy; absent where there is none.
    pub energy_share: Option<f64>,
    /// Mean reward of the cut ones.
    pub mean_reward: Option<f64>,
    /// The cut responses.
    pub cut: Ended,
    /// Those that came to their end.
    pub finished: Ended,
    /// By step, ascending.
    pub steps: Vec<StepTruncated>,
}

/// Responses that ended in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Ended {
    /// Responses.
    pub responses: u64,
    /// Mean reward.
    pub mean_reward: Option<f64>,
    /// Mean number of trained tokens.
    pub mean_length: Option<f64>,
    /// Mean entropy of the tokens.
    pub mean_entropy: Option<f64>,
    /// Gradient energy a token.
    pub energy_per_token: Option<f64>,
}

/// Cut responses of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepTruncated {
    /// Step.
    pub step: i64,
    /// Responses of which it is known.
    pub known: u64,
    /// Cut responses.
    pub responses: u64,
    /// Their share of the responses.
    pub share: f64,
    /// Their share of the step's gradient energy; absent where there is none.
    pub energy_share: Option<f64>,
}

/// KL to the reference: d = `logprob_ref` − `logprob` on trained tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct KlReference {
    /// Trained tokens with both values.
    pub tokens: u64,
    /// −mean d.
    pub k1: f64,
    /// Mean of e^d − 1 − d.
    pub k3: f64,
    /// By step, ascending.
    pub steps: Vec<StepKl>,
    /// Which tokens carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
}

/// KL to the reference at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepKl {
    /// Step.
    pub step: i64,
    /// Trained tokens with both values.
    pub tokens: u64,
    /// −mean d.
    pub k1: f64,
    /// Mean of e^d − 1 − d.
    pub k3: f64,
}

/// A part of the reward, `reward/<name>`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RewardPart {
    /// Its name.
    pub name: String,
    /// Responses that have it.
    pub responses: u64,
    /// Its mean.
    pub mean: f64,
    /// By step, ascending.
    pub steps: Vec<StepMean>,
}

/// The mean of something over the responses of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepMean {
    /// Step.
    pub step: i64,
    /// Responses.
    pub responses: u64,
    /// Mean.
    pub mean: f64,
}

/// Loops: n-grams of at most 64 tokens that stand three times in a row or more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Repetition {
    /// Trained tokens in second or later copies.
    pub tokens: u64,
    /// Their share of the trained tokens that have an id.
    pub share: f64,
    /// Responses that end in a loop.
    pub looping: u64,
    /// By step, ascending.
    pub steps: Vec<StepRepetition>,
}

/// Loops at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepRepetition {
    /// Step.
    pub step: i64,
    /// Trained tokens in second or later copies.
    pub tokens: u64,
    /// Their share of the step's trained tokens that have an id.
    pub share: f64,
    /// Responses that end in a loop.
    pub looping: u64,
    /// Their share of the responses.
    pub looping_share: f64,
    /// Of these, responses whose last loop is long: 16 tokens of later copies or more, or half of the response.
    pub stuck: u64,
    /// Their share: the signal `repetition` of the diagnosis.
    pub stuck_share: f64,
}

/// The mirror of risk: tokens with A < 0, p < τ_p and H < τ_h of their batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PunishedRare {
    /// Tokens; an estimate where not exact.
    pub tokens: f64,
    /// Their share of the gradient energy.
    pub energy_share: Option<f64>,
    /// Whether all rare tokens were kept; else numbers are scaled up from a random part.
    pub exact: bool,
    /// The most frequent ids.
    pub top: Vec<MirrorToken>,
}

/// An id among the punished rare tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MirrorToken {
    /// Token id.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// Tokens.
    pub tokens: f64,
    /// Share of the gradient energy.
    pub energy_share: Option<f64>,
}
