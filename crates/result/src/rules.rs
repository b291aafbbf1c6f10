//! What other thresholds and rules would do to the same tokens.

use ndarray::Array2;
use schemars::JsonSchema;
use serde::Serialize;

use super::grid::as_list;
use stapo_framework::rules::Rule;

/// τ_p × q.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Sweep {
    /// τ_p of the rows, ascending.
    pub tau_p: Vec<f64>,
    /// Quantiles of the columns, ascending.
    pub quantile: Vec<f64>,
    /// All cells, by τ_p, then quantile.
    #[serde(serialize_with = "as_list")]
    #[schemars(with = "Vec<SweepCell>")]
    pub cells: Array2<SweepCell>,
    /// Whether every cell is exact; else rare tokens were sampled at `sampling_rate`.
    pub exact: bool,
    /// Share of the rare tokens that was kept.
    pub sampling_rate: f64,
}

/// One choice of thresholds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SweepCell {
    /// τ_p.
    pub tau_p: f64,
    /// The quantile that defines τ_h.
    pub quantile: f64,
    /// Candidates.
    pub candidates: f64,
    /// Silenced tokens.
    pub silenced: f64,
    /// Silenced tokens among all trained ones.
    pub fraction: f64,
    /// Their share of the energy.
    pub energy_share: Option<f64>,
    /// Their share of the energy of tokens with A > 0.
    pub positive_energy_share: Option<f64>,
    /// Overlap with the run's own setting: tokens in both over tokens in either.
    pub overlap: Option<f64>,
    /// Whether the cell is exact.
    pub exact: bool,
}

/// One rule on this log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RuleRow {
    /// Name, as in `provenance` and the replay trainer: `stapo_v5`, `stapo_v1`, `fullmask`, …
    pub rule: Rule,
    /// What it does, in one sentence.
    pub description: String,
    /// Tokens (with w ≠ 0 under the base objective) that get no gradient.
    pub silenced: f64,
    /// Tokens whose weight shrinks in size.
    pub damped: f64,
    /// Tokens whose weight grows in size, also from nothing.
    pub amplified: f64,
    /// `silenced` among all trained tokens.
    pub silenced_share: f64,
    /// Energy under the rule over the base objective's energy.
    pub energy_kept: Option<f64>,
    /// The same for tokens with A > 0.
    pub positive_energy_kept: Option<f64>,
    /// The same for tokens with A < 0.
    pub negative_energy_kept: Option<f64>,
    /// Whether the numbers are exact; else they come from a uniform sample of tokens.
    pub exact: bool,
    /// Standard error of `energy_kept` from sampling; 0 where exact.
    pub sampling_error: f64,
    /// What the rule could not use, e.g. a ratio that was not logged.
    pub note: Option<String>,
}
