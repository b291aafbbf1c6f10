//! What other thresholds, strategies and rules would do to the same tokens.

use ndarray::Array2;
use schemars::JsonSchema;
use serde::Serialize;

use super::grid::{as_list, as_rows};
use crate::framework::rules::Rule;

/// τ_p × q.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
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
#[non_exhaustive]
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

named! {
    /// How tokens are chosen among the candidates.
    #[derive(Default)]
    pub enum Strategy {
        /// The lowest entropies: S2T.
        #[default]
        LowEntropy = "low_entropy",
        /// Any, in expectation.
        Random = "random",
        /// The highest entropies.
        HighEntropy = "high_entropy",
        /// All candidates.
        Fullmask = "fullmask",
        /// Every token with p < τ_p, whatever A and H.
        ProbabilityOnly = "probability_only",
    }
}

/// What a way to choose among the candidates takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct StrategyRow {
    /// The way.
    pub strategy: Strategy,
    /// Share of the candidates; `None` where the strategy has none.
    pub quantile: Option<f64>,
    /// Silenced tokens (an expected value for `random`).
    pub silenced: f64,
    /// Their share of the energy.
    pub energy_share: Option<f64>,
    /// Their share of the energy of tokens with A > 0.
    pub positive_energy_share: Option<f64>,
    /// Tokens in both over tokens in either, with the run's own mask.
    pub overlap: Option<f64>,
    /// Whether the row is exact; else rare tokens were sampled.
    pub exact: bool,
}

/// One rule on this log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RuleRow {
    /// Name, as in `provenance` and the replay trainer: `stapo_v5`, `stapo_v1`, `fullmask`, …
    pub rule: Rule,
    /// What it does, in one sentence.
    pub description: String,
    /// Tokens (with w ≠ 0 under the base objective) that get no gradient.
    pub silenced: f64,
    /// Tokens whose weight shrinks.
    pub damped: f64,
    /// Tokens whose weight grows.
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

/// How far the rules touch the same tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RuleOverlap {
    /// Names, in the order of rows and columns.
    pub rules: Vec<Rule>,
    /// Tokens whose gradient the rule changes by more than 1 % (silenced, damped or amplified).
    pub touched: Vec<f64>,
    /// Tokens touched by both.
    #[serde(serialize_with = "as_rows")]
    #[schemars(with = "Vec<Vec<f64>>")]
    pub both: Array2<f64>,
    /// Tokens touched by both over tokens touched by either; `None` where neither touches any.
    #[serde(serialize_with = "as_rows")]
    #[schemars(with = "Vec<Vec<Option<f64>>>")]
    pub jaccard: Array2<Option<f64>>,
    /// Whether the numbers are exact; else from a uniform sample of tokens.
    pub exact: bool,
}
