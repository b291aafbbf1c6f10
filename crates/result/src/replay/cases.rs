//! Flagged tokens, explained.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flagged token with the policy's own alternatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Step of the log.
    pub step: i64,
    /// The response, by its id in the log.
    pub sample: String,
    /// Position in the response.
    pub position: u64,
    /// Id of the token.
    pub token_id: u32,
    /// Its text, where known.
    pub token: Option<String>,
    /// Texts before it.
    pub before: String,
    /// Texts after it.
    pub after: String,
    /// Its probability under the starting policy.
    pub probability: f64,
    /// Entropy there.
    pub entropy: f64,
    /// Its advantage.
    pub advantage: f64,
    /// Whether it is silenced; else it is an exploratory token.
    pub spurious: bool,
    /// The most probable tokens at its place.
    pub alternatives: Vec<Alternative>,
}

/// A token that the policy could have taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// Id.
    pub token_id: u32,
    /// Text, where known.
    pub token: Option<String>,
    /// Probability.
    pub probability: f64,
}
