//! What the judge says of a run.

use super::gain::Gain;
use serde::{Deserialize, Serialize};

/// What reward and parts say of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing to judge by: no reward, or one value throughout.
    #[default]
    Unknown,
    /// Damaged, down to the floor.
    Collapsed,
    /// It lost what it had.
    Damaged,
    /// It gained.
    Learned,
    /// It was good from the start and is.
    AtItsBest,
    /// It starts at the start of training and has gained less than a quarter of the room.
    NotLearning,
    /// Too short or too noisy to say whether it learns.
    Undecided,
}

impl Outcome {
    /// Damaged or collapsed.
    #[must_use]
    pub fn is_damage(self) -> bool {
        matches!(self, Self::Damaged | Self::Collapsed)
    }
}

/// A loss that chance does not explain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Name of the series.
    pub series: String,
    /// The slice that lost; `None` for the whole run at its mix.
    pub slice: Option<String>,
    /// Mean of the earlier window.
    pub from: f64,
    /// First step of that.
    pub from_step: i64,
    /// Mean of the tail.
    pub to: f64,
    /// First step of the tail.
    pub since: i64,
    /// After Bonferroni over windows, series and slices.
    pub p: f64,
    /// Near the floor after having been a fifth of the range above it.
    pub to_the_floor: bool,
}

/// A series by step, of the whole run at its mix or of one slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Name of the series.
    pub series: String,
    /// `None` for the whole run.
    pub slice: Option<String>,
    /// Whether losses of it are damage (penalties do not judge).
    pub judges: bool,
    /// Steps with a value, ascending.
    pub steps: Vec<i64>,
    /// Mean of each: of groups, over the slices that the step has, by their shares in the run.
    pub means: Vec<f64>,
    /// Start, best and end.
    pub gain: Gain,
}

/// A reward that was redefined, its sides judged apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Redefined {
    /// First step of the new reward.
    pub step: i64,
    /// Before that.
    pub before: Box<Verdict>,
    /// From there on.
    pub after: Box<Verdict>,
}

/// What the judge says of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// In one word.
    pub outcome: Outcome,
    /// Losses that make the run damaged.
    pub damage: Vec<Hit>,
    /// Losses of parts that are not named as goals, while the reward rises.
    pub soft: Vec<Hit>,
    /// The reward's gain at the run's mix; of the latest side where it was redefined.
    pub gain: Option<Gain>,
    /// Where the reward was redefined.
    pub redefined: Option<Redefined>,
    /// Responses in groups that were looked at: a sample of large logs.
    pub looked_at: u64,
    /// Whether slices tell a changed mix of tasks from damage.
    pub has_slices: bool,
    /// Whether the log holds the start of training.
    pub has_start: bool,
    /// Every series by step, of the whole run and of its slices.
    pub courses: Vec<Course>,
}
