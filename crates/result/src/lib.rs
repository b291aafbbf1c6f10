//! What an analysis found: what summaries, tables, reports and comparisons read.
//!
//! Everything here is plain data. Fields that a log cannot answer are `None`. Nothing depends on
//! the order of files, threads or rows, except [`cases::FlaggedToken::row`] and [`Provenance`].

mod answer_frames;
pub mod breakdown;
pub mod cases;
pub mod changes;
pub mod claims;
pub mod clipping;
pub mod clusters;
pub mod corrections;
pub mod diagnosis;
pub mod drivers;
mod frames;
pub mod gate;
mod grid;
pub mod groups;
pub mod offpolicy;
pub mod partial;
pub mod plane;
pub mod provenance;
pub mod questions;
pub mod replay;
mod replay_frames;
pub mod rules;
pub mod settings;
pub mod signal_name;
pub mod slices;
pub mod stand_in;
pub mod steps;
pub mod taxonomy;
pub mod totals;
pub mod vocabulary;
pub mod warnings;
mod write;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::Serialize;

pub use cases::{CandidatePoint, Candidates, Cases, FlagKind, FlaggedToken, ResponseView, ShownFor};
pub use changes::{ChangeBin, EntropyChange, MeasuredChange};
pub use claims::{ClaimId, ClaimRow, ClaimVerdict, SpuriousTokens};
pub use clipping::Clipping;
pub use clusters::RunClusters;
pub use diagnosis::{
    Cause, CauseCode, Confidence, Damage, Diagnosis, NotChecked, Onset, RewardCourse, RunState, Signal,
};
pub use drivers::{
    ClipCorner, DRIVERS, DriverToken, Drivers, EnergyConcentration, TopShares, UnboundedTokens, WhatIfRow,
};
pub use groups::{Groups, WithinGroups};
pub use offpolicy::OffPolicy;
pub use partial::{Partial, PartialAnalysis, PartialStep, PartialTotals, PartialVerdict};
pub use plane::{AxisSpec, Plane, PlaneCell};
pub use provenance::{ColumnReport, FileReport, MappedColumn, Provenance, VocabularySource};
pub use questions::{KlReference, NotAnswered, PunishedRare, Repetition, RewardPart, Truncated};
pub use rules::{RuleRow, Sweep, SweepCell};
pub use signal_name::{PartSignal, SignalName};
pub use slices::SliceRow;
pub use stapo_base::stats::sustained::Direction;
pub use steps::{BatchThreshold, EntropyQuantiles, Mismatch, StepChange, StepRow};
pub use taxonomy::ClassRow;
pub use totals::{BatchKind, NormSource, RunVerdict, S2tSummary, Totals};
pub use vocabulary::{Concentration, Vocabulary, VocabularyRow};
pub use warnings::{Evidence, Warning, WarningCode};

/// Version of `summary.json`; raised when a field changes its meaning.
pub const SUMMARY_VERSION: u32 = 2;

/// What every analysis finds, whatever it is for.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RunCore {
    /// Version of the summary's schema.
    pub schema_version: u32,
    /// The answer in plain words and the numbers behind it.
    pub verdict: RunVerdict,
    /// Damage, causes and the order of events.
    pub diagnosis: Diagnosis,
    /// The tokens that carry the gradient energy.
    pub drivers: Drivers,
    /// Counts and means over the run.
    pub totals: Totals,
    /// The spurious-token mask: settings and outcome.
    pub s2t: S2tSummary,
    /// What its tokens are to the update.
    pub spurious: SpuriousTokens,
    /// What the user should know, the most serious first.
    pub warnings: Vec<Warning>,
    /// One row a step, ascending.
    pub steps: Vec<StepRow>,
    /// One row a class of the taxonomy, in the order of their codes.
    pub taxonomy: Vec<ClassRow>,
    /// How often each token id occurs, is a candidate, is silenced.
    pub vocabulary: Vocabulary,
    /// What engineers ask beyond the framework.
    #[serde(flatten)]
    pub answers: Answers,
    /// Values of each column that were missing or bad.
    pub quality: Vec<ColumnReport>,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// The probability × entropy plane (in `tables/plane.parquet`, not in the summary).
    #[serde(skip)]
    pub plane: Plane,
}

/// Everything one analysis found: the core, and what only a run's own report shows. Fields of the
/// core are read as if they were its own.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RunAnalysis {
    /// What every analysis finds.
    #[serde(flatten)]
    pub core: RunCore,
    /// Directions and sizes of the entropy change.
    pub entropy_change: EntropyChange,
    /// The paper's claims, checked on this run.
    pub claims: Vec<ClaimRow>,
    /// τ_p × q.
    pub sweep: Sweep,
    /// Other rules on the same tokens.
    pub rules: Vec<RuleRow>,
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
}

impl Deref for RunAnalysis {
    type Target = RunCore;

    fn deref(&self) -> &RunCore {
        &self.core
    }
}

impl DerefMut for RunAnalysis {
    fn deref_mut(&mut self) -> &mut RunCore {
        &mut self.core
    }
}

/// A run as comparisons need it: the core, and totals of groups. Fields of the core
/// are read as if they were its own.
#[derive(Clone, Debug, Default)]
pub struct ComparedRun {
    /// What every analysis finds.
    pub core: RunCore,
    /// Totals of groups.
    pub clusters: RunClusters,
    /// The lower and the higher reward, where there are just two.
    pub two_rewards: Option<[f32; 2]>,
    /// Whether lengths are counted in characters, since the log holds texts and no tokenizer is known.
    pub in_characters: bool,
}

impl Deref for ComparedRun {
    type Target = RunCore;

    fn deref(&self) -> &RunCore {
        &self.core
    }
}

/// Answers to what engineers ask beyond the framework; each is absent where the log cannot give it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answers {
    /// Sampler, trainer and updated policy against each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offpolicy: Option<OffPolicy>,
    /// Groups by outcome, pass@k.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Groups>,
    /// Responses that were cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// Clipping by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipping: Option<Clipping>,
    /// KL to the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kl_reference: Option<KlReference>,
    /// The parts of the reward, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reward_parts: Vec<RewardPart>,
    /// What moves the advantage inside of groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_groups: Option<WithinGroups>,
    /// Rare tokens in confident states that are punished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub punished_rare: Option<PunishedRare>,
    /// Loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition: Option<Repetition>,
    /// Tokens by the values of a dimension.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub slices: BTreeMap<String, Vec<SliceRow>>,
    /// What is absent, and what to log for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_answered: Vec<NotAnswered>,
}
