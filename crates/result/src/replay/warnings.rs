//! What the user should know.

use schemars::JsonSchema;
use serde::Serialize;

/// What the user should know, and do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReplayWarning {
    /// Which.
    pub code: ReplayWarningCode,
    /// What was found.
    pub message: String,
    /// The next step.
    pub hint: String,
}

/// Kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayWarningCode {
    /// The policy is not the one that was trained.
    Surrogate,
    /// The first policy does not give the logged log-probabilities.
    OtherPolicy,
    /// The replay is far from the logged policy.
    Drift,
    /// An arm is further from its start than a guess would be.
    PolicyLost,
    /// An arm stopped early.
    ArmStopped,
    /// The time was too short for all arms.
    TimeLimit,
    /// The log was trained at another learning rate.
    LearningRate,
    /// A mask took nothing out.
    NothingSilenced,
    /// Responses or tokens cannot be replayed.
    Skipped,
    /// Nothing is held out, or it cannot tell correct from wrong.
    NoHoldout,
    /// An objective had to do without something.
    Objective,
}
