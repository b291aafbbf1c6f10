//! Tokens by the values of a dimension.

use schemars::JsonSchema;
use serde::Serialize;

/// The trained tokens of one value of a dimension.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SliceRow {
    /// The value as text, a range `from..to` of numbers, `other` or `missing`.
    pub value: String,
    /// Trained tokens with all values.
    pub tokens: u64,
    /// Their share of all.
    pub token_share: f64,
    /// Mean entropy; absent where it is not logged.
    pub mean_entropy: Option<f64>,
    /// Mean probability; absent where it is not logged.
    pub mean_prob: Option<f64>,
    /// Share of the gradient energy; absent where there is none.
    pub energy_share: Option<f64>,
    /// Its 95 % interval: a jackknife over random groups of prompts.
    pub energy_share_interval: Option<[f64; 2]>,
    /// Silenced tokens; absent where entropy is not logged.
    pub spurious: Option<u64>,
    /// Their share of the slice's tokens.
    pub spurious_share: Option<f64>,
    /// Its 95 % interval.
    pub spurious_share_interval: Option<[f64; 2]>,
    /// Share of the slice's tokens that clipping cuts; absent where it cannot be known.
    pub clipped_share: Option<f64>,
    /// k3 of the engine difference; absent where it is not logged.
    pub engine_k3: Option<f64>,
}
