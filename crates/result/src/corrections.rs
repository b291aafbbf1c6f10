//! What corrections for a sampler that is not the trainer would do to this log.

use schemars::JsonSchema;
use serde::Serialize;

/// One correction over the run. Shares are of trained tokens with an engine difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CorrectionRow {
    /// Its name with its bounds.
    pub rule: String,
    /// Mean of its weights w'.
    pub mean_weight: f64,
    /// Effective share of the tokens: (Σw')²/(n·Σw'²); absent where all weights are 0.
    pub ess: Option<f64>,
    /// Share of tokens whose w' is not the uncapped one.
    pub changed_tokens: f64,
    /// Share of tokens with w' = 0.
    pub dropped_tokens: f64,
    /// Share of responses all of whose tokens have w' = 0.
    pub dropped_responses: f64,
    /// Gradient energy with w' over without, of the same tokens; absent where there is none.
    pub energy_kept: Option<f64>,
    /// Share of the spurious tokens with w' = 0; absent where there are none.
    pub spurious_removed: Option<f64>,
    /// Tokens that both it and S2T take out, over those that either does; absent where none is.
    pub overlap_with_s2t: Option<f64>,
    /// The ids whose weights it changes most often; of corrections of single tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<ChangedId>,
    /// By step, ascending.
    pub steps: Vec<StepCorrection>,
}

/// A token id whose weights a correction changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ChangedId {
    /// Token id.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// Tokens whose weight is changed.
    pub tokens: u64,
    /// Their share of all whose weight is changed.
    pub share: f64,
}

/// One correction at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepCorrection {
    /// Step.
    pub step: i64,
    /// Mean of its weights.
    pub mean_weight: f64,
    /// Effective share of the tokens; absent where all weights are 0.
    pub ess: Option<f64>,
    /// Share of tokens whose w' is not the uncapped one.
    pub changed_tokens: f64,
    /// Share of tokens with w' = 0.
    pub dropped_tokens: f64,
    /// Share of responses all of whose tokens have w' = 0.
    pub dropped_responses: f64,
}

/// Whether the tokens that trainer and sampler see differently are the spurious ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SpuriousOverlap {
    /// Candidates with an engine difference.
    pub candidates: u64,
    /// Spurious tokens with one.
    pub spurious: u64,
    /// By band of ratios.
    pub bands: Vec<BandOverlap>,
}

/// Spurious tokens against the tokens outside of one band of ratios.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BandOverlap {
    /// Lower end of the band.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Share of the candidates outside.
    pub candidates_outside: Option<f64>,
    /// Share of the spurious tokens outside.
    pub spurious_outside: Option<f64>,
    /// Share of the tokens outside that are spurious.
    pub outside_spurious: Option<f64>,
}
