//! Groups by outcome, and what moves the advantage inside of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// Groups by outcome. `all_right` + `all_wrong` + `mixed` are all judged groups; `phantom` groups are
/// a part of `all_wrong`, `dead` ones can be of any outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ByOutcome<T> {
    /// All responses are right.
    pub all_right: T,
    /// None is.
    pub all_wrong: T,
    /// Some are.
    pub mixed: T,
    /// None is right, and yet some token has an advantage.
    pub phantom: T,
    /// No token has an advantage.
    pub dead: T,
}

impl<T: Copy> ByOutcome<T> {
    /// All five.
    pub fn each(&self) -> [T; 5] {
        [self.all_right, self.all_wrong, self.mixed, self.phantom, self.dead]
    }

    /// All five, to be changed.
    pub fn each_mut(&mut self) -> [&mut T; 5] {
        [&mut self.all_right, &mut self.all_wrong, &mut self.mixed, &mut self.phantom, &mut self.dead]
    }

    /// The same of each.
    pub fn map<U>(&self, of: impl Fn(T) -> U) -> ByOutcome<U> {
        ByOutcome {
            all_right: of(self.all_right),
            all_wrong: of(self.all_wrong),
            mixed: of(self.mixed),
            phantom: of(self.phantom),
            dead: of(self.dead),
        }
    }

    /// Each with that of another.
    pub fn zip(&self, other: &Self, sum: impl Fn(T, T) -> T) -> Self {
        ByOutcome {
            all_right: sum(self.all_right, other.all_right),
            all_wrong: sum(self.all_wrong, other.all_wrong),
            mixed: sum(self.mixed, other.mixed),
            phantom: sum(self.phantom, other.phantom),
            dead: sum(self.dead, other.dead),
        }
    }
}

/// Right and wrong responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ByAnswer<T> {
    /// Of the right ones.
    pub right: T,
    /// Of the wrong ones.
    pub wrong: T,
}

/// Groups and how many of their responses are right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Groups {
    /// What is right: a condition on the reward or one of its parts.
    pub rule: String,
    /// Groups by outcome.
    pub counts: ByOutcome<u64>,
    /// Their shares of the trained tokens.
    pub token_share: ByOutcome<f64>,
    /// Their shares of the gradient energy; absent where there is none.
    pub energy_share: Option<ByOutcome<f64>>,
    /// Share of the responses that are right.
    pub pass_rate: f64,
    /// pass@k, unbiased: mean over groups of 1 − C(n−c, k)/C(n, k).
    pub pass_at: BTreeMap<u64, f64>,
    /// Their 95 % intervals: a bootstrap over the groups of each step, or its normal limit where they
    /// are many.
    pub pass_at_interval: BTreeMap<u64, [f64; 2]>,
    /// How much of the update goes to groups of which pass rate.
    pub by_pass_rate: Vec<PassRateRow>,
    /// Length of the right and of the wrong responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<ByAnswer<OutcomeLength>>,
    /// By step, ascending.
    pub steps: Vec<StepGroupOutcomes>,
}

/// The groups of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StepGroupOutcomes {
    /// Step.
    pub step: i64,
    /// Groups.
    pub groups: u64,
    /// Groups by outcome.
    pub counts: ByOutcome<u64>,
    /// Their shares of the step's trained tokens.
    pub token_share: ByOutcome<f64>,
    /// Their shares of the step's gradient energy; absent where there is none.
    pub energy_share: Option<ByOutcome<f64>>,
    /// Share of the responses that are right.
    pub pass_rate: f64,
    /// pass@k.
    pub pass_at: BTreeMap<u64, f64>,
}

/// What moves the advantage inside of groups: values are centred on their group's mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WithinGroups {
    /// Groups with two responses or more that were looked at.
    pub groups: u64,
    /// Whether these are all; else they are a random part.
    pub exact: bool,
    /// Correlation of the advantage with the number of trained tokens.
    pub advantage_length_correlation: Option<f64>,
    /// Share of the advantage's variance that the parts of the reward explain together (a linear
    /// regression); absent without parts, or where they depend on each other.
    pub advantage_explained: Option<f64>,
    /// The parts of the reward.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartInfluence>,
}

/// A part of the reward inside of groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PartInfluence {
    /// Its name.
    pub name: String,
    /// Its variance inside of groups.
    pub variance: f64,
    /// Its coefficient in the regression of the advantage on all parts.
    pub coefficient: Option<f64>,
    /// Share of the advantage's variance that it explains alone.
    pub advantage_share: Option<f64>,
    /// Its correlation with each other part.
    pub correlations: BTreeMap<String, f64>,
}

/// Groups of one range of pass rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PassRateRow {
    /// The range, such as `0`, `0..1/4` (without 0, with 1/4) or `1`.
    pub pass_rate: String,
    /// Groups.
    pub groups: u64,
    /// Share of the trained tokens.
    pub token_share: f64,
    /// Share of the gradient energy; absent where there is none.
    pub energy_share: Option<f64>,
}

/// Responses of one outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OutcomeLength {
    /// Responses of kept groups.
    pub responses: u64,
    /// Mean number of trained tokens.
    pub mean_length: Option<f64>,
}
