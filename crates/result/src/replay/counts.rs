//! What a rule did to a mini-batch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a rule did to a mini-batch; `None` where it does not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Tokens with A > 0 and p < τ_p.
    pub candidates: Option<u64>,
    /// Tokens that a mask took out.
    pub silenced: Option<u64>,
    /// Tokens that a selection left in.
    pub kept: Option<u64>,
    /// Tokens whose weight grew.
    pub amplified: Option<u64>,
    /// The entropy threshold.
    pub tau_h: Option<f64>,
}
