//! Where a difference of log-probabilities sits.

use schemars::JsonSchema;
use serde::Serialize;

/// The tokens of one bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BinRow {
    /// What the bin holds, such as `ln p -2..-1` or `turn 1`.
    pub bin: String,
    /// Tokens.
    pub tokens: u64,
    /// Share of the tokens.
    pub token_share: f64,
    /// Mean difference.
    pub mean: f64,
    /// Mean absolute difference.
    pub mean_abs: f64,
    /// k3.
    pub k3: f64,
    /// Share of the sum of k3.
    pub k3_share: Option<f64>,
    /// Share of tokens with a ratio outside of [0.5, 2].
    pub outside_0_5_2: f64,
}

/// One token id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct IdRow {
    /// Token id.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// Occurrences.
    pub tokens: u64,
    /// Mean difference.
    pub mean: f64,
    /// k3.
    pub k3: f64,
    /// Share of the sum of k3.
    pub k3_share: Option<f64>,
    /// Share of its occurrences with a ratio outside of [0.5, 2].
    pub outside_0_5_2: f64,
}

/// Where a difference sits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Breakdown {
    /// By ln p under the trainer, in bins of one nat; bins without tokens are left out.
    pub by_probability: Vec<BinRow>,
    /// By fifths of the entropy, about equal in tokens.
    pub by_entropy: Vec<BinRow>,
    /// The first 32 tokens of responses.
    pub first_tokens: Vec<BinRow>,
    /// By turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_turn: Vec<BinRow>,
    /// Ids with the largest |mean difference|, of at least 20 occurrences.
    pub largest_mean: Vec<IdRow>,
    /// Ids with the largest share of k3.
    pub largest_k3_share: Vec<IdRow>,
}
