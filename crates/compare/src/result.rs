//! What a comparison found: the one struct that `compare.json`, tables and reports read.

mod answers;
mod distributions;
mod names;
mod warnings;

use schemars::JsonSchema;
use serde::Serialize;

use super::settings::StepAlignment;
use stapo_framework::s2t::Preset;
use stapo_result::{NormSource, WarningCode};

pub use answers::{AnswerRow, ArmCause, CauseRow};
pub use distributions::{
    Distance, DistributionChange, RegionChange, ShareChange, SpuriousToken, TokenChange,
};
pub use names::{Drawn, Family, Finding, Test, Unit};
pub use warnings::{CompareCode, CompareWarning};

/// Version of `compare.json`; raised when a field changes its meaning.
pub const COMPARE_VERSION: u32 = 1;

/// Everything a comparison found.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Comparison {
    /// Version of the schema.
    pub schema_version: u32,
    /// The answer in plain words.
    pub verdict: ComparisonVerdict,
    /// How it was computed.
    pub settings: Settings,
    /// The runs, in the order they were given.
    pub runs: Vec<RunSummary>,
    /// What is compared: runs, or several runs under one name. The first is the baseline.
    pub arms: Vec<Arm>,
    /// How each arm was aligned with the baseline.
    pub alignment: Vec<AlignmentSummary>,
    /// One row a metric and arm other than the baseline.
    pub metrics: Vec<MetricRow>,
    /// The causes that any run has, arm by arm.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseRow>,
    /// Quantities of whole runs side by side, without a test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerRow>,
    /// How the distributions of tokens differ from the baseline's.
    pub distributions: Vec<DistributionChange>,
    /// The ids that are silenced most in any arm, side by side.
    pub spurious_vocabulary: Vec<SpuriousToken>,
    /// What the user should know, the most serious first.
    pub warnings: Vec<CompareWarning>,
    /// What holds for these numbers, in plain words.
    pub statements: Vec<String>,
    /// Values of every run at every step (in `tables/compare_steps.parquet`).
    #[serde(skip)]
    pub series: Vec<Series>,
    /// Joined trainer scalars (in `tables/compare_trainer.parquet`).
    #[serde(skip)]
    pub trainer: Vec<Series>,
}

/// The answer for the first lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonVerdict {
    /// Whether anything differs beyond noise.
    pub differs: bool,
    /// Where nothing differs: whether a difference could have been found at all.
    pub decided: bool,
    /// What differs, by how much; or that nothing does.
    pub headline: String,
    /// What else differs, one sentence each.
    pub differences: Vec<String>,
    /// What does not differ beyond noise, what could not be decided, one sentence each.
    pub alike: Vec<String>,
    /// What the test speaks of.
    pub scope: String,
}

/// How it was computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// Version of this program.
    pub program: String,
    /// Preset of the mask.
    pub preset: Preset,
    /// Draws of the bootstrap.
    pub draws: u64,
    /// Level of the intervals.
    pub confidence: f64,
    /// Seed.
    pub seed: u64,
    /// Entropy in nats at which the classes of all runs are cut; `None` where there are no tokens.
    pub class_entropy_cut: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Its name.
    pub name: String,
    /// Its arm.
    pub arm: String,
    /// Its files.
    pub files: Vec<String>,
    /// Logged steps.
    pub steps: u64,
    /// First logged step.
    pub first_step: Option<i64>,
    /// Last logged step.
    pub last_step: Option<i64>,
    /// Trained tokens.
    pub tokens: u64,
    /// Responses.
    pub responses: u64,
    /// Groups, where logged.
    pub groups: Option<u64>,
    /// Silenced tokens.
    pub silenced: u64,
    /// Where its gradient norms come from.
    pub gradient_source: NormSource,
    /// How its analysis alone judges it.
    pub health: String,
    /// Codes of its own warnings.
    pub warnings: Vec<WarningCode>,
    /// How steady its entropy is.
    pub stability: Stability,
}

/// How steady the entropy of a run is. All in nats, of the mean entropy of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Stability {
    /// At the first step.
    pub first_entropy: Option<f64>,
    /// At the last step.
    pub last_entropy: Option<f64>,
    /// Scatter about the run's own trend: each step against the line through its neighbours.
    pub spread: Option<f64>,
    /// Largest fall below an earlier step.
    pub drawdown: Option<f64>,
    /// Largest rise above an earlier step.
    pub run_up: Option<f64>,
    /// Robust slope (Theil–Sen), nats a hundred steps.
    pub slope_per_100_steps: Option<f64>,
    /// The step from which the entropy stays collapsed: a fall for good that its analysis calls a collapse;
    /// null where it does not.
    pub collapse_step: Option<i64>,
    /// Mean reward of the last third of the steps.
    pub late_reward: Option<f64>,
}

/// Runs that are compared as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Names of its runs.
    pub runs: Vec<String>,
}

/// How an arm was aligned with the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AlignmentSummary {
    /// The arm.
    pub run: String,
    /// How steps were paired.
    pub method: StepAlignment,
    /// Pairs of steps.
    pub steps: u64,
    /// Steps of the baseline without a partner.
    pub baseline_unaligned: u64,
    /// Steps of the arm without a partner.
    pub other_unaligned: u64,
    /// Prompts that both have at a pair of steps.
    pub prompts: u64,
    /// Groups of the baseline at aligned steps without a partner.
    pub baseline_groups_unaligned: u64,
    /// Groups of the arm at aligned steps without a partner.
    pub other_groups_unaligned: u64,
    /// Whether prompts are logged in both.
    pub prompts_logged: bool,
}

/// A metric of an arm against the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MetricRow {
    /// Name of the metric.
    pub name: String,
    /// What it is, in words.
    pub label: String,
    /// What it is of.
    pub family: Family,
    /// Whether it is of the family that was named in advance: reward, entropy, length, KL.
    pub primary: bool,
    /// Its unit.
    pub unit: Unit,
    /// The arm.
    pub run: String,
    /// Value of the baseline over the aligned steps.
    pub baseline: f64,
    /// Value of the arm over the aligned steps.
    pub other: f64,
    /// `other` − `baseline`.
    pub difference: f64,
    /// Lower end of the interval of the difference.
    pub ci_low: Option<f64>,
    /// Upper end of the interval of the difference.
    pub ci_high: Option<f64>,
    /// What was drawn or counted for the interval.
    pub interval: Drawn,
    /// The test.
    pub test: Test,
    /// What the test counts.
    pub test_unit: Drawn,
    /// How many of them (of the smaller side where they are not paired).
    pub n: u64,
    /// p-value of the test, two-sided.
    pub p_value: Option<f64>,
    /// The same after the correction over all metrics and arms.
    pub p_adjusted: Option<f64>,
    /// The smallest p-value that so few could give, where the test has a smallest one.
    pub smallest_p: Option<f64>,
    /// The same after the correction, everything else being as it is.
    pub smallest_p_adjusted: Option<f64>,
    /// Cliff's delta, from −1 to 1; within pairs where they are paired.
    pub effect: Option<f64>,
    /// Shift of Hodges and Lehmann, in the metric's unit.
    pub shift: Option<f64>,
    /// Whether the adjusted p-value is at most 1 minus the confidence, and the interval, where there is one,
    /// excludes 0. Of steps there has to be one.
    pub significant: bool,
    /// What can be said of it.
    pub finding: Finding,
    /// Where none was seen on either side: the share that either may still have, at most (95 %,
    /// tokens taken as independent); null where some was seen.
    pub at_most: Option<f64>,
    /// Correlation of the difference from step to step about its trend.
    pub autocorrelation: Option<f64>,
    /// Independent steps that the series of differences is worth.
    pub effective_steps: Option<f64>,
    /// The ends of the values of single responses in both logs, a few odd ones left out: of rewards and their
    /// parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Whether none of its values is below 0: by what it is, or, of a trainer's scalar, of which nothing is known, by
    /// its values.
    #[serde(skip)]
    pub never_negative: bool,
}

/// Values of one run over steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Run.
    pub run: String,
    /// Metric.
    pub metric: String,
    /// Step and value.
    pub points: Vec<(i64, f64)>,
}
