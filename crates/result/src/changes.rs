//! Entropy changes, predicted and measured.

use schemars::JsonSchema;
use serde::Serialize;

/// Directions and sizes of the first-order entropy change, over tokens with w ≠ 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EntropyChange {
    /// Certified up.
    pub certified_up: u64,
    /// Certified down.
    pub certified_down: u64,
    /// Of both, only because the token must be the mode (p < ½ and p > e^{−H}).
    pub certified_as_mode: u64,
    /// Not decided by p and H.
    pub ambiguous: u64,
    /// Tokens whose change is exact (`sum_pi_sq` and `sum_pi_sq_log_pi` logged).
    pub exact: u64,
    /// Lower end of the mean change per unit of step size.
    pub predicted_low: Option<f64>,
    /// Upper end.
    pub predicted_high: Option<f64>,
    /// Mean of the paper's lemma.
    pub lemma: Option<f64>,
    /// Measured against predicted, where `entropy_after` is logged.
    pub measured: Option<MeasuredChange>,
}

/// The change that was measured, beside the one predicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredChange {
    /// Tokens with both (w ≠ 0), in the sample that the rules use.
    pub tokens: u64,
    /// Whether that is all of them.
    pub complete: bool,
    /// Mean of `entropy_after − entropy` over all tokens with both.
    pub mean: Option<f64>,
    /// Pearson's correlation.
    pub pearson: Option<f64>,
    /// Spearman's rank correlation.
    pub spearman: Option<f64>,
    /// Standard error of a rank correlation of unrelated samples of this size, 1/√(n−1).
    pub standard_error: Option<f64>,
    /// Tokens by predicted change, ascending; equal numbers of tokens.
    pub bins: Vec<ChangeBin>,
}

/// Tokens of about the same predicted change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ChangeBin {
    /// Smallest predicted change per unit of step size.
    pub predicted_from: f64,
    /// Largest.
    pub predicted_to: f64,
    /// Tokens.
    pub tokens: u64,
    /// Mean predicted change.
    pub mean_predicted: f64,
    /// Mean measured change.
    pub mean_measured: f64,
    /// Quartiles of the measured change: 25 %, 50 %, 75 %.
    pub measured_quartiles: [f64; 3],
}
