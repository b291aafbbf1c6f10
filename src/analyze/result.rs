//! What an analysis found: the one struct that summaries, tables, reports and comparisons read.
//!
//! Everything here is plain data. Fields that a log cannot answer are `None`. Nothing depends on
//! the order of files, threads or rows, except [`cases::FlaggedToken::row`] and [`Provenance`].

pub mod cases;
pub mod changes;
pub mod clusters;
pub mod plane;
pub mod provenance;
pub mod rules;
pub mod steps;
pub mod taxonomy;
pub mod totals;
pub mod vocabulary;
pub mod warnings;

use serde::Serialize;

pub use cases::{CandidatePoint, Candidates, Cases, FlagKind, FlaggedToken, ResponseView, ShownFor};
pub use changes::{ChangeBin, Correlation, EntropyChange, MeasuredChange};
pub use clusters::{Cluster, ClusterSum, ClusterSums, ClusterUnit, RunClusters, StepClusters};
pub use plane::{AxisSpec, EntropyProfile, Plane, PlaneCell};
pub use provenance::{ColumnReport, FileReport, MappedColumn, Provenance, VocabularySource};
pub use rules::{RuleOverlap, RuleRow, StrategyRow, Sweep, SweepCell};
pub use steps::{BatchThreshold, EntropyQuantiles, Mismatch, StepChange, StepRow};
pub use taxonomy::ClassRow;
pub use totals::{S2tSummary, Totals, Verdict, VerdictState};
pub use vocabulary::{Concentration, Vocabulary, VocabularyRow};
pub use warnings::{Evidence, Warning, WarningCode};

/// Version of `summary.json`; raised when a field changes its meaning.
pub const SUMMARY_VERSION: u32 = 1;

/// Everything one analysis found.
#[derive(Clone, Debug, Serialize)]
pub struct RunAnalysis {
    /// Version of the summary's schema.
    pub schema_version: u32,
    /// The answer in plain words and the numbers behind it.
    pub verdict: Verdict,
    /// Counts and means over the run.
    pub totals: Totals,
    /// The spurious-token mask: settings and outcome.
    pub s2t: S2tSummary,
    /// What the user should know, the most serious first.
    pub warnings: Vec<Warning>,
    /// One row a step, ascending.
    pub steps: Vec<StepRow>,
    /// One row a class of the taxonomy, in the order of their codes.
    pub taxonomy: Vec<ClassRow>,
    /// Directions and sizes of the entropy change.
    pub entropy_change: EntropyChange,
    /// The relations that the paper derives.
    pub correlations: Vec<Correlation>,
    /// Entropy against token quantile, early, middle and late in the run.
    pub entropy_profiles: Vec<EntropyProfile>,
    /// How often each token id occurs, is a candidate, is silenced.
    pub vocabulary: Vocabulary,
    /// τ_p × q.
    pub sweep: Sweep,
    /// Other ways to choose as many candidates.
    pub strategies: Vec<StrategyRow>,
    /// Other rules on the same tokens.
    pub rules: Vec<RuleRow>,
    /// How far the rules touch the same tokens.
    pub rule_overlap: RuleOverlap,
    /// Values of each column that were missing or bad.
    pub quality: Vec<ColumnReport>,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// The probability × entropy plane (in `tables/plane.parquet`, not in the summary).
    #[serde(skip)]
    pub plane: Plane,
    /// The candidates one by one, for the ordering chart and live thresholds.
    #[serde(skip)]
    pub candidates: Candidates,
    /// The flagged tokens with their context (all of them in `tables/flagged.parquet`).
    #[serde(skip)]
    pub cases: Cases,
    /// Whole responses for heat maps: the riskiest, the best and the worst, cut ones, and all of a
    /// few groups.
    #[serde(skip)]
    pub responses: Vec<ResponseView>,
    /// Sums by group, where they were asked for.
    #[serde(skip)]
    pub clusters: Option<RunClusters>,
}
