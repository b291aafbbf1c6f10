//! How few tokens carry the gradient energy, and which.

use schemars::JsonSchema;
use serde::Serialize;

use super::totals::NormSource;

/// Tokens with the largest norms that are listed.
pub const DRIVERS: usize = 50;

/// How the energy is spread over tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EnergyConcentration {
    /// Trained tokens: what percentages are of.
    pub tokens: u64,
    /// (Σ‖g‖²)²/Σ‖g‖⁴: as many tokens of equal norm would be as concentrated. `None` without energy.
    pub effective_number: Option<f64>,
    /// Shares of the largest tokens in the energy. `None` without energy.
    pub shares: Option<TopShares>,
}

/// Shares of the largest tokens in the energy; percentages are of the trained tokens, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TopShares {
    /// The largest token.
    pub top_1: f64,
    /// The ten largest.
    pub top_10: f64,
    /// The largest 0.01 %.
    pub top_0_01_percent: f64,
    /// The largest 0.1 %.
    pub top_0_1_percent: f64,
    /// The largest 1 %.
    pub top_1_percent: f64,
    /// Whether the percentages are exact; else they are known to the width of a rung (6 %) of the
    /// last token that counts.
    pub exact: bool,
}

/// The drivers of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Drivers {
    /// How the energy is spread.
    pub concentration: EnergyConcentration,
    /// Tokens with A < 0 and a ratio above 10, which PPO's clip leaves open; absent without ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<UnboundedTokens>,
    /// What bounds and masks would leave.
    pub what_if: Vec<WhatIfRow>,
    /// The tokens with the largest ‖g‖², largest first.
    pub top: Vec<DriverToken>,
    /// Share of tokens against share of energy, both of the largest first: the curve of the chart.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// Tokens with A < 0 and a ratio beyond every dual clip in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UnboundedTokens {
    /// How many.
    pub tokens: u64,
    /// Their share of the gradient energy; absent without energy.
    pub energy_share: Option<f64>,
}

/// What a bound on the ratio or a mask would leave of the energy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WhatIfRow {
    /// `dual_clip_3`, `dual_clip_10`, `ratio_cap_2`, `ratio_cap_10`, `s2t`.
    pub rule: String,
    /// Share of the energy that is kept.
    pub energy_kept: f64,
    /// The effective number of tokens after it; `None` where no energy is left.
    pub effective_number: Option<f64>,
}

/// Where a token lies against PPO's clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClipCorner {
    /// Inside of the range.
    Inside,
    /// Above it, A > 0: cut.
    HighPositive,
    /// Below it, A < 0: cut.
    LowNegative,
    /// Above it, A < 0: the corner that the clip leaves open.
    HighNegative,
    /// Below it, A > 0: left open too, but small.
    LowPositive,
}

impl ClipCorner {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::HighPositive => "high_positive",
            Self::LowNegative => "low_negative",
            Self::HighNegative => "high_negative",
            Self::LowPositive => "low_positive",
        }
    }
}

/// A token with a large gradient norm, with every fact that is logged.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriverToken {
    /// ‖g‖².
    pub energy: f64,
    /// Its share of the run's energy.
    pub energy_share: f64,
    /// Where the norm comes from.
    pub norm_source: NormSource,
    /// Step.
    pub step: i64,
    /// Mini-batch inside the step, where logged.
    pub update: Option<i64>,
    /// Group, where logged.
    pub group_id: Option<String>,
    /// Response id, where logged.
    pub sample_id: Option<String>,
    /// Response, counted from 0 in the order the files were given (in the table only, since the
    /// summary does not depend on that order).
    #[serde(skip)]
    pub row: u64,
    /// Position in the response, from 0.
    pub position: i64,
    /// Token id, where logged.
    pub token_id: Option<i64>,
    /// Its text, where known.
    pub token: Option<String>,
    /// ln p.
    pub logprob: f64,
    /// H in nats.
    pub entropy: f64,
    /// A.
    pub advantage: f64,
    /// ρ = π_θ/π_old, where logged.
    pub ratio: Option<f64>,
    /// Where it lies against the clip, where the ratio is logged.
    pub corner: Option<ClipCorner>,
    /// ln p as the sampler gave it.
    pub logprob_rollout: Option<f64>,
    /// Steps between sampler and trainer.
    pub lag: Option<i64>,
    /// Turn.
    pub turn: Option<i64>,
    /// Whether the response was cut.
    pub truncated: Option<bool>,
    /// Reward of the response.
    pub reward: Option<f64>,
    /// Texts before it.
    pub before: Vec<String>,
    /// Texts after it.
    pub after: Vec<String>,
}
