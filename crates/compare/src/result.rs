//! What a comparison found: the one struct that `compare.json`, tables and pages read.

mod causes;
mod movers;
mod warnings;

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;
use stapo_framework::s2t::Preset;
use stapo_levels::{BankLevel, Clusters, MethodsLevel, Metric, NotTested, StepValue, Verdict, Window};
use stapo_result::{RunState, WarningCode};

pub use causes::{ArmCause, CauseRow};
pub use movers::{Movers, RegionChange, ShareChange, SpuriousToken, TokenChange};
pub use warnings::{CompareCode, CompareWarning};

/// Version of `compare.json`; raised when a field changes its meaning.
pub const COMPARE_VERSION: u32 = 2;

/// Everything a comparison found.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Comparison {
    /// Version of the schema.
    pub schema_version: u32,
    /// Whether two runs differ by more than the drawing of prompts and responses.
    pub runs_differ: bool,
    /// Whether several seeds show that a method differs.
    pub methods_differ: bool,
    /// What is said, the surest level first.
    pub said: Vec<Said>,
    /// How it was computed.
    pub settings: Settings,
    /// The runs, in the order they were given.
    pub runs: Vec<RunSummary>,
    /// What is compared: runs, or several runs under one name. The first is the baseline.
    pub arms: Vec<Arm>,
    /// Every other run against the first.
    pub pairs: Vec<Pair>,
    /// Every metric of every pair.
    pub metrics: Vec<MetricRow>,
    /// Several seeds a side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<MethodsLevel>,
    /// The causes that any run has, arm by arm.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseRow>,
    /// Where the tokens of each arm went.
    pub movers: Vec<Movers>,
    /// The ids that are silenced most in any arm, side by side.
    pub spurious_vocabulary: Vec<SpuriousToken>,
    /// What the user should know, the most serious first.
    pub warnings: Vec<CompareWarning>,
    /// Values of every run at every step (in `tables/compare_steps.parquet`).
    #[serde(skip)]
    pub series: Vec<Series>,
    /// What trainers logged (in `tables/compare_trainer.parquet`).
    #[serde(skip)]
    pub trainer: Vec<Series>,
}

named! {
    /// What a statement speaks of.
    pub enum Level {
        /// Methods, by several seeds.
        Methods = "methods",
        /// Two runs beside the scatter of seeds of one recipe.
        Seeds = "seeds",
        /// Two runs at their steps.
        Runs = "runs",
    }
}

/// Lines of at most 25 words.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Said {
    /// What they speak of.
    pub level: Level,
    /// The run that is held against the first; absent of methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The lines.
    pub lines: Vec<String>,
}

/// How it was computed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// Version of this program.
    pub program: String,
    /// Preset of the mask.
    pub preset: Preset,
    /// What methods are judged by.
    pub primary: Metric,
}

impl Default for Settings {
    fn default() -> Self {
        Self { program: String::new(), preset: Preset::default(), primary: Metric::Reward }
    }
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
    /// Whether lengths are in characters: a log of texts, without a tokenizer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_characters: bool,
    /// How its analysis alone judges it.
    pub state: RunState,
    /// The same in a sentence.
    pub health: String,
    /// Codes of its own warnings.
    pub warnings: Vec<WarningCode>,
}

/// Runs that are compared as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Names of its runs.
    pub runs: Vec<String>,
}

/// A run against the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// The run.
    pub name: String,
    /// The first run.
    pub against: String,
    /// Steps of the same number, which are compared.
    pub steps: u64,
    /// Steps that only the first run has, and only this one.
    pub steps_of_one: [u64; 2],
    /// Tasks that only the first run has, and only this one.
    pub tasks_of_one: [Vec<String>; 2],
    /// Number of tests: each interval is at 1 − 0.05 / tests.
    pub tests: u64,
    /// Whether nothing but the seed is different: both are of one arm, or their logs say so.
    pub same_settings: bool,
    /// What their logs tell of themselves and is not the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingChange>,
    /// Beside the scatter of seeds of one recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<BankLevel>,
}

/// A setting that is not the same; absent where one log does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettingChange {
    /// Its name.
    pub name: String,
    /// In the first run.
    pub baseline: Option<String>,
    /// In this run.
    pub other: Option<String>,
}

/// A metric of a run against the first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricRow {
    /// Name of the metric, with `_end` where it is of the last fifth of the steps.
    pub name: String,
    /// Of what.
    pub metric: Metric,
    /// Over which of the steps.
    pub window: Window,
    /// The run.
    pub run: String,
    /// The first run.
    pub against: String,
    /// Number of steps.
    pub steps: u64,
    /// Value of the first run, at the tasks of both together.
    pub baseline: Option<f64>,
    /// Value of the run.
    pub other: Option<f64>,
    /// `other` − `baseline`.
    pub difference: Option<f64>,
    /// Lower end of its interval, for all tests of the pair together.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Degrees of freedom.
    pub freedom: Option<f64>,
    /// δ: less does not matter; a judgement.
    pub margin: Option<f64>,
    /// The smallest difference that would have been found with a chance of 80 %.
    pub detectable: Option<f64>,
    /// What counts as drawn independently.
    pub clusters: Option<Clusters>,
    /// Responses of the first run that lack the metric, and of this one.
    pub lacking: [u64; 2],
    /// What holds.
    pub verdict: Verdict,
    /// Whether it differs by more than the margin.
    pub differs: bool,
    /// Why it was not tested.
    pub reason: Option<NotTested>,
}

/// Values of one run over steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Run.
    pub run: String,
    /// Metric.
    pub metric: String,
    /// Its values with their errors, where there are any.
    pub points: Vec<StepValue>,
}

impl MetricRow {
    /// Half of the interval's width.
    #[must_use]
    pub fn half(&self) -> Option<f64> {
        self.ci_high.zip(self.ci_low).map(|(high, low)| (high - low) / 2.0)
    }
}
