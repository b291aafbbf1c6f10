//! Token ids: what occurs, what is a candidate, what is silenced.

use schemars::JsonSchema;
use serde::Serialize;

/// The vocabulary of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Vocabulary {
    /// Distinct ids among the trained tokens; `None` where ids are not logged.
    pub distinct: Option<u64>,
    /// How the mask spreads over ids.
    pub silenced: Option<Concentration>,
    /// How the exploratory tokens spread over ids.
    pub exploratory: Option<Concentration>,
    /// The ids that are silenced most, at most [`TOP_ROWS`].
    pub top: Vec<VocabularyRow>,
    /// Every id, ascending (in `tables/vocabulary.parquet`, not in the summary).
    #[serde(skip)]
    pub rows: Vec<VocabularyRow>,
}

/// Rows of [`Vocabulary::top`].
pub const TOP_ROWS: usize = 50;

/// How a set of tokens spreads over ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Concentration {
    /// Tokens in the set.
    pub tokens: u64,
    /// Distinct ids.
    pub distinct: u64,
    /// Share of the most frequent id.
    pub top1_share: f64,
    /// Share of the five most frequent ids.
    pub top5_share: f64,
    /// Share of the ten most frequent ids.
    pub top10_share: f64,
    /// Herfindahl index Σ share²: 1 where one id takes all.
    pub herfindahl: f64,
}

/// One token id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct VocabularyRow {
    /// Token id.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// Occurrences with A > 0.
    pub positive: u64,
    /// Occurrences with A < 0.
    pub negative: u64,
    /// Occurrences with A = 0.
    pub zero: u64,
    /// Candidates (A > 0, p < τ_p).
    pub candidates: u64,
    /// Silenced.
    pub silenced: u64,
    /// Exploratory.
    pub exploratory: u64,
    /// Energy of the occurrences with A > 0.
    pub positive_energy: f64,
    /// Energy of the occurrences with A < 0.
    pub negative_energy: f64,
}
