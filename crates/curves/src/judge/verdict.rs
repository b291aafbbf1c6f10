//! What is said of a run.

use serde::Serialize;
use stapo_result::RunState;

/// A cause that curves can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseCode {
    /// The policy left its reference where the reward fell or stood still.
    LargeUpdates,
    /// Many responses are cut.
    Truncation,
    /// A held-out score falls.
    HeldOutFalls,
    /// A goal or a held-out score goes down, or stays, while the reward rises.
    RewardHacking,
    /// A part of the reward falls.
    PartFalls,
    /// One reward throughout, and nothing that could change it.
    NoSignal,
    /// Responses grow threefold without a gain.
    LengthExplosion,
}

impl CauseCode {
    /// The code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LargeUpdates => "large_updates",
            Self::Truncation => "truncation",
            Self::HeldOutFalls => "held_out_falls",
            Self::RewardHacking => "reward_hacking",
            Self::PartFalls => "part_falls",
            Self::NoSignal => "no_signal",
            Self::LengthExplosion => "length_explosion",
        }
    }
}

/// A likely cause.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Cause {
    /// Which one.
    pub code: CauseCode,
    /// The series that shows it, as the canonical name or the column.
    pub series: String,
    /// What it shows.
    pub sentence: String,
}

/// A curve that moved, which is no verdict by itself.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Sign {
    /// The series, as the canonical name or the column.
    pub series: String,
    /// What it did.
    pub sentence: String,
}

/// A fall, or a fall that came back.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Event {
    /// The series that fell.
    pub series: String,
    /// First step of it.
    pub first_step: f64,
    /// Last step of it; `None` where it lasts to the end.
    pub last_step: Option<f64>,
    /// Mean before it.
    pub before: f64,
    /// Mean in it, at its lowest.
    pub lowest: f64,
    /// The KL there, where it blew up.
    pub kl: Option<f64>,
    /// The step by which it had come back.
    pub recovered_by: Option<f64>,
    /// All of it.
    pub sentence: String,
}

/// Start and end of the series that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CurveGain {
    /// The series: `reward`, or the column where no reward is logged.
    pub series: String,
    /// Rows.
    pub rows: usize,
    /// Mean of its first tenth.
    pub start: f64,
    /// Mean of its last fifth.
    pub end: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// The least that it can be.
    pub floor: f64,
    /// The most that it can be, or a guess from the rows.
    pub top: f64,
}

/// How a run went, as far as its curves show.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CurveVerdict {
    /// The state.
    pub state: RunState,
    /// The state in a sentence with its numbers.
    pub sentence: String,
    /// Falls, also those that came back.
    pub events: Vec<Event>,
    /// Likely causes, in the order of the series: the policy's, parts, held-out scores, KL, length.
    pub causes: Vec<Cause>,
    /// Entropy, length, clip fraction, KL, gradient: what moved.
    pub signs: Vec<Sign>,
    /// Start and end; `None` where nothing could be judged.
    pub gain: Option<CurveGain>,
    /// What to know beside it, the reader's notes first.
    pub notes: Vec<String>,
}
