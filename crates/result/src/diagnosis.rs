//! What is wrong with the run: damage, causes, the order of events.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;

use super::signal_name::SignalName;
use super::warnings::Evidence;
pub use stapo_base::stats::sustained::Direction;

/// How the run stands, what was damaged, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// How the run stands.
    pub state: RunState,
    /// The answer in a few sentences: the first cause, what the reward does, what to do.
    pub sentence: String,
    /// The reward's way at the run's own mix of tasks; null where there is none to judge by.
    pub reward: Option<RewardCourse>,
    /// What got worse for good, the earliest first.
    pub damage: Vec<Damage>,
    /// Causes, the best explanation first.
    pub causes: Vec<Cause>,
    /// When each signal changed for good, the earliest first.
    pub onsets: Vec<Onset>,
    /// Causes that this log cannot tell.
    pub not_checked: Vec<NotChecked>,
    /// How sure the statements about series are.
    pub statement: String,
    /// The signals over the steps (in `tables/steps.parquet`, and drawn in the page).
    #[serde(skip)]
    pub signals: Vec<Signal>,
}

named! {
    /// How a run stands, in the order in which the states are asked for: the first that holds is the run's.
    #[derive(Default)]
    pub enum RunState {
        /// From some step on, half of the responses hold NaN or ±∞.
        NotFinite = "not_finite",
        /// It lost what it had, down to the floor.
        Collapsed = "collapsed",
        /// It lost what it had.
        Damaged = "damaged",
        /// It has not gained, and something holds it or it had time enough.
        NotLearning = "not_learning",
        /// Nothing was lost, but a cause is likely.
        Suspicious = "suspicious",
        /// It learned, or is at its best.
        Healthy = "healthy",
        /// Nothing was lost; too short or too noisy to say whether it learns.
        Undecided = "undecided",
        /// Nothing to judge by: no reward, or one value throughout.
        #[default]
        Unknown = "unknown",
    }
}

impl RunState {
    /// The state of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.name() == name)
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotFinite => "not finite",
            Self::NotLearning => "not learning",
            other => other.name(),
        }
    }

    /// Whether something is wrong with the run.
    #[must_use]
    pub fn is_sick(self) -> bool {
        self <= Self::Suspicious
    }

    /// Whether the run lost what it had, or holds no numbers any more.
    #[must_use]
    pub fn is_loss(self) -> bool {
        self <= Self::Damaged
    }

    /// Whether a run in this state stands as badly as one that is `asked`, or worse: who asks for damage asks for a
    /// collapse, too. The states of runs in which nothing is wrong, or that cannot be judged, are only themselves.
    #[must_use]
    pub fn is_or_worse(self, asked: Self) -> bool {
        self == asked || asked.is_sick() && self < asked
    }
}

/// The reward's way at the run's own mix of tasks. Every sentence, panel and table shows these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RewardCourse {
    /// Mean of the first tenth of the steps.
    pub start: f64,
    /// The greatest mean of a fifth of the steps.
    pub best: f64,
    /// Mean of the last fifth of the steps.
    pub end: f64,
    /// The lower end of its range.
    pub floor: f64,
    /// The upper end of its range.
    pub top: f64,
}

/// Something that got worse and stayed so.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Damage {
    /// The signal.
    #[schemars(with = "String")]
    pub signal: SignalName,
    /// The task or data source that lost; null for the whole run.
    pub slice: Option<String>,
    /// The first step of the change.
    pub from_step: i64,
    /// Its level before.
    pub before: f64,
    /// Its level over the last steps.
    pub after: f64,
}

/// How sure a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The evidence is beyond what a healthy run shows.
    Likely,
    /// A sign of it, which healthy runs may show too.
    Possible,
    /// No fault: worth knowing.
    Note,
}

/// Which cause: a name of `docs/causes`. The table of causes is the diagnosis' own; here it is text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct CauseCode(Cow<'static, str>);

impl CauseCode {
    /// The cause of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl From<String> for CauseCode {
    fn from(name: String) -> Self {
        Self(Cow::Owned(name))
    }
}

impl fmt::Display for CauseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<&str> for CauseCode {
    fn eq(&self, name: &&str) -> bool {
        self.0 == *name
    }
}

/// A cause, with its evidence and what to do next.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    /// Which.
    pub code: CauseCode,
    /// How sure.
    pub confidence: Confidence,
    /// The first step at which it shows; null where it is at none.
    pub from_step: Option<i64>,
    /// The task or data source that it is confined to.
    pub slice: Option<String>,
    /// The cause that explains this one.
    pub follows_from: Option<CauseCode>,
    /// What was found, with numbers.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The numbers and places behind it, the one that decides first.
    pub evidence: Vec<Evidence>,
}

impl Cause {
    /// Whether it is likely and nothing else explains it.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.confidence == Confidence::Likely && self.follows_from.is_none()
    }
}

/// When a signal changed for good.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Onset {
    /// The signal.
    #[schemars(with = "String")]
    pub signal: SignalName,
    /// The first step of the change.
    pub step: i64,
    /// Which way.
    pub direction: Direction,
}

/// A cause that this log cannot tell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotChecked {
    /// Which.
    pub code: CauseCode,
    /// What to log.
    pub needs: String,
}

/// A quantity over the steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Its name; also that of its column.
    pub name: SignalName,
    /// Step, value and, where known, the standard error of the value.
    pub points: Vec<(i64, f64, Option<f64>)>,
    /// The ends of the values of single responses, a few odd ones left out, where it is a mean of such.
    pub range: Option<[f64; 2]>,
}
