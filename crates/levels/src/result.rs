//! What a comparison says, at each level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stapo_base::named;

use crate::metric::{Metric, Window};

named! {
    /// What holds of a difference.
    pub enum Verdict {
        /// It is beyond its interval and matters.
        Differs = "differs",
        /// Whatever of the interval is true, it does not matter.
        Same = "same",
        /// Neither can be said.
        Open = "open",
        /// See why.
        NotTested = "not_tested",
    }
}

named! {
    /// Why something was not tested.
    pub enum NotTested {
        /// A run lacks it, or no step of it is in both.
        NotLogged = "not_logged",
        /// Fewer than eight groups a side.
        FewGroups = "few_groups",
        /// Fewer than five degrees of freedom.
        LittleFreedom = "little_freedom",
        /// Fewer steps of both runs than the scatter between neighbours takes.
        FewSteps = "few_steps",
        /// The last fifth is all of the common steps.
        EndIsAll = "end_is_all",
        /// Fewer than three runs a side.
        FewSeeds = "few_seeds",
        /// No task has enough groups in every run.
        NoCommonTask = "no_common_task",
        /// The seeds do not scatter at all: nothing tells what another would be.
        NoScatter = "no_scatter",
    }
}

impl NotTested {
    /// In a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotLogged => "not at the same steps of both runs",
            Self::FewGroups => "fewer than eight groups a side",
            Self::FewSteps => "too few common steps for the scatter between them",
            Self::LittleFreedom => "fewer than five degrees of freedom",
            Self::EndIsAll => "too few steps for an end",
            Self::FewSeeds => "fewer than three seeds a side",
            Self::NoCommonTask => "no task with five groups in every run",
            Self::NoScatter => "seeds that do not scatter",
        }
    }
}

named! {
    /// What counts as drawn independently.
    pub enum Clusters {
        /// Prompts, over both runs and all steps.
        Prompts = "prompts",
        /// Groups of responses, since there are fewer than ten prompts.
        Groups = "groups",
        /// Responses, since neither groups nor prompts were logged. Intervals are too narrow.
        Responses = "responses",
        /// Steps, since a run is known by its curves alone: the scatter between neighbours is the error.
        Steps = "steps",
    }
}

/// Two runs at fixed steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsLevel {
    /// Number of steps that both runs have.
    pub steps: u64,
    /// Number of tests: each interval is at 1 − 0.05 / tests.
    pub tests: u64,
    /// Each metric in each window.
    pub rows: Vec<RunsRow>,
    /// Tasks that only the first run has, and only the second.
    pub tasks_of_one: [Vec<String>; 2],
}

/// A metric of two runs over a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsRow {
    /// Of what.
    pub metric: Metric,
    /// Over which of the steps.
    pub window: Window,
    /// Number of steps.
    pub steps: u64,
    /// Value of each run, at the tasks of both together.
    pub values: [Option<f64>; 2],
    /// The first value minus the second.
    pub difference: Option<f64>,
    /// Half of the interval's width, for all tests together.
    pub half: Option<f64>,
    /// Degrees of freedom.
    pub freedom: Option<f64>,
    /// δ: less does not matter.
    pub least: Option<f64>,
    /// The smallest difference that would have been found with a chance of 80 %.
    pub detectable: Option<f64>,
    /// What counts as drawn independently.
    pub clusters: Option<Clusters>,
    /// Responses of each run that lack the metric.
    pub lacking: [u64; 2],
    /// What holds.
    pub verdict: Verdict,
    /// Why it was not tested.
    pub reason: Option<NotTested>,
}

/// Several seeds a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodsLevel {
    /// Number of steps that all runs have.
    pub steps: u64,
    /// Tasks that every value is an equal mix of; empty where groups have none in common.
    pub tasks: Vec<String>,
    /// The metric that is tested; of all else there are intervals.
    pub primary: Metric,
    /// Every contrast in each metric and window.
    pub contrasts: Vec<Contrast>,
    /// Seeds a side that would show a difference of the primary metric, from the scatter of these seeds.
    pub needed: Vec<SeedsNeeded>,
}

/// One arm against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// Of what.
    pub metric: Metric,
    /// Over which of the steps.
    pub window: Window,
    /// The arm whose value counts up.
    pub arm: String,
    /// The arm that it is held against.
    pub against: String,
    /// Whether that is the random mask.
    pub against_random: bool,
    /// Seeds of each.
    pub seeds: [u64; 2],
    /// Value of each seed, the mean over steps at an equal mix of tasks.
    pub values: [Vec<f64>; 2],
    /// Mean of the first minus mean of the second.
    pub difference: Option<f64>,
    /// Interval at 95 %, of this contrast alone.
    pub interval: Option<[f64; 2]>,
    /// Degrees of freedom.
    pub freedom: Option<f64>,
    /// Whether seeds are held in pairs that drew the same prompts.
    pub paired: bool,
    /// p-value, of the contrasts that are tested.
    pub p_value: Option<f64>,
    /// The same after Holm over the contrasts that are tested.
    pub adjusted: Option<f64>,
    /// Whether Holm's test of the primary metric says that the arms differ; false of all else.
    pub significant: bool,
    /// The smallest difference that so many seeds show with a chance of 80 %.
    pub detectable: Option<f64>,
    /// Why there is no interval.
    pub reason: Option<NotTested>,
}

/// How many seeds a side show a difference with a chance of 80 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedsNeeded {
    /// The difference.
    pub difference: f64,
    /// Whether seeds are held in pairs that drew the same prompts.
    pub paired: bool,
    /// Seeds a side; 100,000 stands for more.
    pub seeds: u64,
    /// The same at both ends of the interval of the scatter, at 95 %.
    pub interval: [u64; 2],
}

/// Two runs, with the scatter of seeds borrowed from other runs of one recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BankLevel {
    /// Number of steps that all runs have.
    pub steps: u64,
    /// Runs in the bank.
    pub seeds: u64,
    /// Tasks that every value is an equal mix of.
    pub tasks: Vec<String>,
    /// Each metric in each window.
    pub rows: Vec<BankRow>,
}

/// A metric of two runs beside the scatter of seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BankRow {
    /// Of what.
    pub metric: Metric,
    /// Over which of the steps.
    pub window: Window,
    /// Value of each run.
    pub values: [Option<f64>; 2],
    /// The first value minus the second.
    pub difference: Option<f64>,
    /// Half of the interval's width, at 95 %.
    pub half: Option<f64>,
    /// Degrees of freedom of the bank.
    pub freedom: Option<f64>,
    /// Whether the difference is beyond what two seeds of one recipe show.
    pub verdict: Verdict,
    /// Why it was not tested.
    pub reason: Option<NotTested>,
}
