//! What is wrong with the run: damage, causes, the order of events.

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
    /// The answer in a few sentences: damage, first cause, the number behind it, what to do. Where nothing
    /// is damaged a likely cause comes first.
    pub sentence: String,
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
    /// Whether the state is `collapsed` since entropy exploded, before what the run was trained for was lost, if it
    /// was: words say so then.
    #[serde(skip)]
    pub exploded: bool,
    /// The signals over the steps (in `tables/steps.parquet`, and drawn in the page).
    #[serde(skip)]
    pub signals: Vec<Signal>,
}

// From well to gone, and then those in which no damage could be told.
named! {
    /// How a run stands.
    #[derive(Default)]
    pub enum RunState {
        /// Nothing was damaged and no cause is likely.
        Healthy = "healthy",
        /// Nothing was damaged, but a cause is likely.
        Suspicious = "suspicious",
        /// Something got worse for good.
        Damaged = "damaged",
        /// What the run was trained for is near its floor, or entropy is gone or exploded.
        Collapsed = "collapsed",
        /// No token of any step has an advantage: nothing is learned, and nothing could be damaged.
        Untrained = "untrained",
        /// Too few steps, or too little in the log, to say.
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

    /// Whether a run in this state stands as badly as one that is `asked`, or worse: who asks for damage asks for a
    /// collapse, too. The states of runs in which nothing is wrong, or that cannot be judged, are only themselves.
    #[must_use]
    pub fn is_or_worse(self, asked: Self) -> bool {
        let badness = |state: Self| {
            [Self::Suspicious, Self::Damaged, Self::Collapsed].into_iter().position(|bad| bad == state)
        };
        self == asked || badness(asked).zip(badness(self)).is_some_and(|(asked, is)| is > asked)
    }
}

/// Something that got worse and stayed so.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Damage {
    /// The signal.
    #[schemars(with = "String")]
    pub signal: SignalName,
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
}

named! {
    /// What can make a run sick; the order is that of explanations: what is wrong with the log
    /// first, then what is trained on, how it was sampled, how large updates are, and last
    /// what follows from these.
    pub enum CauseCode {
        /// Columns are shifted against each other.
        MisalignedLog = "misaligned_log",
        /// p and H are not of one distribution.
        EntropyOfAnotherPolicy = "entropy_of_another_policy",
        /// Tokens of the environment are trained on.
        ObservationTrained = "observation_trained",
        /// The advantage does not rise with the reward.
        AdvantageContradictsReward = "advantage_contradicts_reward",
        /// The reward rises while a part of it, or the pass rate, falls.
        RewardHacking = "reward_hacking",
        /// Nothing that is logged of a response explains its reward.
        UninformativeReward = "uninformative_reward",
        /// No response is pushed down.
        NoNegativeSignal = "no_negative_signal",
        /// No response is pushed up.
        NoPositiveSignal = "no_positive_signal",
        /// The sampler is sharper or flatter than the trainer.
        SamplerTemperature = "sampler_temperature",
        /// The sampler leaves out the tail (top-p, top-k).
        SamplerTruncation = "sampler_truncation",
        /// The sampler's weights are old.
        StaleSampler = "stale_sampler",
        /// The policy moves too far within a step.
        LargeUpdates = "large_updates",
        /// Few tokens with a huge ratio and A < 0 carry the energy.
        UnboundedRatio = "unbounded_ratio",
        /// Trainer and sampler compute different probabilities.
        PrecisionGap = "precision_gap",
        /// Groups without a right answer have advantages.
        PhantomAdvantage = "phantom_advantage",
        /// Responses are cut from the start.
        Truncation = "truncation",
        /// Spurious tokens carry a large part of the energy.
        SpuriousTokens = "spurious_tokens",
        /// Most late groups give no signal.
        DeadGroups = "dead_groups",
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
    /// The step from which on it shows no more (cuts: less than half as many); null where it shows up to the end,
    /// or its end is not known.
    pub before_step: Option<i64>,
    /// What was found, with numbers.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The numbers and places behind it.
    pub evidence: Vec<Evidence>,
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
