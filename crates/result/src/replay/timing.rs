//! How fast a replay was. Not part of the result: another start gives other numbers.

use serde::Serialize;

use stapo_framework::rules::Rule;

/// How fast an update was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UpdateSpeed {
    /// Number of the update.
    pub update: u64,
    /// Trained tokens a second.
    pub tokens_per_second: f64,
}

/// How fast an arm was. Not part of the result: another start gives other numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmTiming {
    /// Name of the objective.
    pub objective: Rule,
    /// The seed.
    pub seed: u64,
    /// Seconds of this start.
    pub seconds: f64,
    /// Trained tokens over all updates (of earlier starts as well).
    pub tokens: u64,
    /// Tokens a second, with all measurements; `None` where an earlier start did a part.
    pub tokens_per_second: Option<f64>,
    /// The updates alone.
    pub updates: Vec<UpdateSpeed>,
}
