//! The taxonomy of tokens.

use schemars::JsonSchema;
use serde::Serialize;

use stapo_framework::taxonomy::TokenClass;

/// One class of the taxonomy over the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassRow {
    /// The class.
    pub class: TokenClass,
    /// Label for charts.
    pub label: String,
    /// Tokens.
    pub tokens: u64,
    /// Share of all trained tokens.
    pub token_share: f64,
    /// Gradient energy.
    pub energy: f64,
    /// Share of the run's energy; `None` where there is none.
    pub energy_share: Option<f64>,
    /// Mean norm of the class's tokens with w ≠ 0.
    pub mean_norm: Option<f64>,
    /// Lower end of the mean norm, where norms are estimated; else equal to it.
    pub mean_norm_low: Option<f64>,
    /// Upper end of the mean norm.
    pub mean_norm_high: Option<f64>,
    /// Tokens that the mean norm was taken over (a uniform sample in large runs).
    pub norm_sample: u64,
    /// Mean norm over that of all tokens with w ≠ 0.
    pub norm_ratio: Option<f64>,
    /// Tokens certified to raise the entropy, among `norm_sample`.
    pub entropy_up: u64,
    /// Tokens certified to lower it.
    pub entropy_down: u64,
    /// Tokens whose direction p and H leave open.
    pub entropy_ambiguous: u64,
    /// Gradient norm by the paper: `low`, `high` or `highest`.
    pub paper_norm: Option<String>,
    /// Entropy change by the paper: `up` or `down`.
    pub paper_entropy: Option<String>,
    /// Spurious risk by the paper's late table.
    pub paper_risk: Option<String>,
    /// Learning potential by the paper's early table.
    pub paper_potential: Option<String>,
}
