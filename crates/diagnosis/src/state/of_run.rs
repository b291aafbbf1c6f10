//! The state of a run in one word: what reward and parts say, with what the causes know.

use super::verdict::{Outcome, Verdict};
use serde::{Deserialize, Serialize};

/// From so many trainer steps on, a run without a gain is not learning, whatever the cause.
const LONG_ENOUGH: i64 = 200;

/// The state of a run, in the order in which they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// From some step on, half of the responses hold NaN or ±∞.
    NotFinite,
    /// It lost what it had, down to the floor.
    Collapsed,
    /// It lost what it had.
    Damaged,
    /// It has not gained, and something holds it or it had time enough.
    NotLearning,
    /// No damage, but a likely cause of it.
    Suspicious,
    /// It learned, or is at its best.
    Healthy,
    /// No damage; too short or too noisy to say whether it learns.
    Undecided,
    /// Nothing to judge by.
    Unknown,
}

impl State {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFinite => "not finite",
            Self::Collapsed => "collapsed",
            Self::Damaged => "damaged",
            Self::NotLearning => "not learning",
            Self::Suspicious => "suspicious",
            Self::Healthy => "healthy",
            Self::Undecided => "undecided",
            Self::Unknown => "unknown",
        }
    }
}

/// What is known of a run beside its reward.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances {
    /// From some step on to the end, half of the responses hold NaN or ±∞.
    pub not_finite: bool,
    /// A cause is likely.
    pub likely_cause: bool,
    /// One that can hold a run at its start is.
    pub cause_holds: bool,
    /// Steps that the trainer has taken.
    pub trainer_steps: i64,
}

impl Verdict {
    /// The first state that holds.
    #[must_use]
    pub fn state(&self, circumstances: &Circumstances) -> State {
        let held = circumstances.cause_holds || circumstances.trainer_steps >= LONG_ENOUGH;
        let suspicious = circumstances.likely_cause || circumstances.cause_holds || !self.soft.is_empty();
        match self.outcome {
            _ if circumstances.not_finite => State::NotFinite,
            Outcome::Collapsed => State::Collapsed,
            Outcome::Damaged => State::Damaged,
            Outcome::NotLearning if held => State::NotLearning,
            _ if suspicious => State::Suspicious,
            Outcome::Learned | Outcome::AtItsBest => State::Healthy,
            Outcome::NotLearning | Outcome::Undecided => State::Undecided,
            Outcome::Unknown => State::Unknown,
        }
    }
}
