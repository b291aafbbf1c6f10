//! What an analysis is for.

/// What an analysis is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The run's own report.
    Report,
    /// A comparison: sums by group are collected.
    Comparison,
}
