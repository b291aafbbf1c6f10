//! What a comparison found: the one struct that `compare.json`, tables and reports read.

use std::collections::BTreeMap;

use serde::Serialize;

/// Version of `compare.json`; raised when a field changes its meaning.
pub const COMPARE_VERSION: u32 = 1;

/// Everything a comparison found.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of the schema.
    pub schema_version: u32,
    /// The answer in plain words.
    pub verdict: Verdict,
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
    /// Entropy against token quantile in the last third of each run: quantiles 0, 0.01, …, 1.
    #[serde(skip)]
    pub profiles: Vec<(String, Vec<f64>)>,
}

/// The answer for the first lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether anything differs beyond noise.
    pub differs: bool,
    /// What differs, by how much; or that nothing does.
    pub headline: String,
    /// What else differs, one sentence each.
    pub differences: Vec<String>,
    /// What does not differ beyond noise, one sentence an arm.
    pub alike: Vec<String>,
    /// What the test speaks of.
    pub scope: String,
}

/// How it was computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Version of this program.
    pub program: String,
    /// Preset of the mask.
    pub preset: String,
    /// Draws of the bootstrap.
    pub draws: u64,
    /// Level of the intervals.
    pub confidence: f64,
    /// Seed.
    pub seed: u64,
}

/// One run.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// `measured`, `exact`, `estimated` or `mixed`.
    pub gradient_source: String,
    /// How its analysis alone judges it.
    pub health: String,
    /// Codes of its own warnings.
    pub warnings: Vec<String>,
    /// How steady its entropy is.
    pub stability: Stability,
}

/// How steady the entropy of a run is. All in nats, of the mean entropy of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
    /// The step from which the entropy stays collapsed: below 15 % of its beginning or 0.01 nats.
    pub collapse_step: Option<i64>,
    /// Mean reward of the last third of the steps.
    pub late_reward: Option<f64>,
}

/// Runs that are compared as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Names of its runs.
    pub runs: Vec<String>,
}

/// How an arm was aligned with the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AlignmentSummary {
    /// The arm.
    pub run: String,
    /// `exact`, `nearest` or `progress`.
    pub method: String,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MetricRow {
    /// Name of the metric.
    pub name: String,
    /// What it is, in words.
    pub label: String,
    /// `framework`, `classes` or `trainer`: p-values are adjusted within each.
    pub family: String,
    /// `nats`, `share`, `tokens` or `number`.
    pub unit: String,
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
    /// How the interval was made: `steps`, `blocks`, `groups` or `seeds` were drawn or counted.
    pub interval: String,
    /// `wilcoxon_signed_rank`, `mann_whitney` or `none`.
    pub test: String,
    /// What the test counts: `steps`, `blocks`, `prompts`, `groups` or `seeds`.
    pub test_unit: String,
    /// How many of them (of the smaller side where they are not paired).
    pub n: u64,
    /// p-value of the test, two-sided.
    pub p_value: Option<f64>,
    /// The same after Holm's correction within the family.
    pub p_adjusted: Option<f64>,
    /// Cliff's delta, from −1 to 1; within pairs where they are paired.
    pub effect: Option<f64>,
    /// Shift of Hodges and Lehmann, in the metric's unit.
    pub shift: Option<f64>,
    /// Whether the adjusted p-value is at most 1 minus the confidence.
    pub significant: bool,
    /// Correlation of the difference from step to step about its trend.
    pub autocorrelation: Option<f64>,
    /// Independent steps that the series of differences is worth.
    pub effective_steps: Option<f64>,
}

/// How the tokens of an arm are distributed against the baseline's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DistributionChange {
    /// The arm.
    pub run: String,
    /// Over the probability × entropy plane.
    pub plane: Option<Distance>,
    /// Over token ids.
    pub vocabulary: Option<Distance>,
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

/// A distance between two distributions and what noise alone would give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distance {
    /// Jensen–Shannon distance, from 0 to 1.
    pub distance: f64,
    /// Its median where labels of random groups of prompts are swapped at random.
    pub noise: f64,
    /// Its 0.95 quantile there.
    pub noise_high: f64,
    /// Share of swaps with at least this distance.
    pub p_value: f64,
}

/// A region of the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RegionChange {
    /// log10 p: from, to.
    pub log10_prob: [f64; 2],
    /// Entropy: from, to.
    pub entropy: [f64; 2],
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

/// A token id.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TokenChange {
    /// Id.
    pub token_id: i64,
    /// Text, where known.
    pub token: Option<String>,
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

/// A token id that is silenced in some arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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

/// The kinds of warnings, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareCode {
    /// A run has collapsed.
    RunInTrouble,
    /// The runs were not logged or analysed alike.
    NotAlike,
    /// Too few steps are aligned for a test over steps.
    FewSteps,
    /// Steps hang together more than blocks can undo.
    SerialCorrelation,
    /// Steps without a partner.
    UnalignedSteps,
    /// Prompts differ or are not logged.
    UnpairedPrompts,
    /// A metric that one side has no data for.
    MissingMetric,
    /// One run each.
    OneSeed,
    /// Gradient norms are estimated.
    EstimatedGradients,
    /// Groups are so many that several share a cluster, or not logged.
    CoarseClusters,
    /// Two runs had the same name.
    RenamedRun,
    /// Rows or columns of the trainer's scalars that were not used.
    TrainerRows,
}

impl CompareCode {
    /// The name in `compare.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RunInTrouble => "run_in_trouble",
            Self::NotAlike => "not_alike",
            Self::FewSteps => "few_steps",
            Self::SerialCorrelation => "serial_correlation",
            Self::UnalignedSteps => "unaligned_steps",
            Self::UnpairedPrompts => "unpaired_prompts",
            Self::MissingMetric => "missing_metric",
            Self::OneSeed => "one_seed",
            Self::EstimatedGradients => "estimated_gradients",
            Self::CoarseClusters => "coarse_clusters",
            Self::RenamedRun => "renamed_run",
            Self::TrainerRows => "trainer_rows",
        }
    }
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompareWarning {
    /// What kind.
    pub code: CompareCode,
    /// What was found, with numbers.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Numbers behind it, by name.
    pub evidence: BTreeMap<String, f64>,
}
