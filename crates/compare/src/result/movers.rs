//! How the tokens of runs are distributed.

use schemars::JsonSchema;
use serde::Serialize;

/// How the tokens of an arm are distributed against the baseline's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Movers {
    /// The arm.
    pub run: String,
    /// Regions of the plane that gained or lost most.
    pub regions: Vec<RegionChange>,
    /// Token ids that gained or lost most.
    pub tokens: Vec<TokenChange>,
    /// Every region (in `tables/compare_regions.parquet`).
    #[serde(skip)]
    pub all_regions: Vec<RegionChange>,
    /// Every id (in `tables/compare_tokens.parquet`).
    #[serde(skip)]
    pub all_tokens: Vec<TokenChange>,
}

/// A share of the tokens in both runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ShareChange {
    /// Share of the baseline's tokens.
    pub baseline: f64,
    /// Share of the arm's tokens.
    pub other: f64,
    /// `other` − `baseline`.
    pub difference: f64,
    /// Interval of the difference.
    pub ci_low: f64,
    /// Interval of the difference.
    pub ci_high: f64,
}

impl ShareChange {
    /// Whether the interval of the difference leaves out 0.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.ci_low > 0.0 || self.ci_high < 0.0
    }
}

/// A region of the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RegionChange {
    /// log10 p: from, to.
    pub log10_prob: [f64; 2],
    /// Entropy: from, to.
    pub entropy: [f64; 2],
    /// Its share of the tokens.
    #[serde(flatten)]
    pub share: ShareChange,
}

/// A token id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TokenChange {
    /// Id.
    pub token_id: i64,
    /// Text, where known.
    pub token: Option<String>,
    /// Its share of the tokens.
    #[serde(flatten)]
    pub share: ShareChange,
}

/// A token id that is silenced in some arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SpuriousToken {
    /// Id.
    pub token_id: i64,
    /// Text, where known.
    pub token: Option<String>,
    /// Silenced occurrences, by arm in the order of `arms`.
    pub silenced: Vec<u64>,
    /// Kept candidates, by arm.
    pub exploratory: Vec<u64>,
    /// Occurrences, by arm.
    pub occurrences: Vec<u64>,
}
