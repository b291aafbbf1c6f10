//! Clipping by side.

use schemars::JsonSchema;
use serde::Serialize;

/// Tokens at the four corners of the clip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClipCorners {
    /// ρ > 1 + ε_high with A > 0: cut.
    pub high_positive: u64,
    /// ρ < 1 − ε_low with A < 0: cut.
    pub low_negative: u64,
    /// ρ > 1 + ε_high with A < 0: not cut.
    pub high_negative: u64,
    /// ρ < 1 − ε_low with A > 0: not cut.
    pub low_positive: u64,
}

/// Clipping by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Clipping {
    /// ε_low.
    pub clip_low: f64,
    /// ε_high.
    pub clip_high: f64,
    /// Over the run.
    #[serde(flatten)]
    pub corners: ClipCorners,
    /// Trained tokens with a ratio.
    pub tokens: u64,
    /// By step, ascending.
    pub steps: Vec<StepClipping>,
    /// By mini-batch inside of a step, over the run; empty where `update` is not logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<UpdateClipping>,
    /// By ln p under the trainer; bins without such tokens are left out.
    pub by_probability: Vec<ClippedBin>,
    /// The ids that are most often beyond the clip.
    pub top: Vec<ClippedId>,
}

/// Tokens beyond the clip in one bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClippedBin {
    /// What the bin holds.
    pub bin: String,
    /// The corners.
    #[serde(flatten)]
    pub corners: ClipCorners,
}

/// Tokens of one id beyond the clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClippedId {
    /// Token id.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// The corners.
    #[serde(flatten)]
    pub corners: ClipCorners,
}

/// Clipping in one mini-batch of every step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UpdateClipping {
    /// Mini-batch inside of a step.
    pub update: i64,
    /// Trained tokens with a ratio.
    pub tokens: u64,
    /// The corners.
    #[serde(flatten)]
    pub corners: ClipCorners,
}

/// Clipping at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepClipping {
    /// Step.
    pub step: i64,
    /// Trained tokens with a ratio.
    pub tokens: u64,
    /// The corners.
    #[serde(flatten)]
    pub corners: ClipCorners,
}
