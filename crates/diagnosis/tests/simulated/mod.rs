//! Runs whose truth is known, by family, made up to be unlike any log. The bench `accuracy` draws hundreds of each.

pub mod draws;
pub mod healthy;
pub mod rewards;
pub mod sick;

use draws::Draws;
use rewards::Log;
use stapo_diagnosis::state::Outcome;

/// What is true of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Healthy, and it gains.
    Learns,
    /// Healthy.
    Sound,
    /// It loses what it had.
    Falls,
    /// Something holds it at its start.
    Held,
}

impl Truth {
    /// A healthy run that is called sick.
    pub fn is_alarm(self, outcome: Outcome) -> bool {
        matches!(self, Self::Learns | Self::Sound) && (outcome.is_damage() || outcome == Outcome::NotLearning)
    }

    /// Whether the verdict says what is true.
    pub fn is_said(self, outcome: Outcome) -> bool {
        match self {
            Self::Learns => matches!(outcome, Outcome::Learned | Outcome::AtItsBest),
            Self::Sound => !self.is_alarm(outcome),
            Self::Falls => outcome.is_damage(),
            Self::Held => outcome == Outcome::NotLearning,
        }
    }
}

/// Runs of one kind.
pub struct Family {
    /// Rows that are told together.
    pub group: &'static str,
    pub name: &'static str,
    pub truth: Truth,
    pub draw: fn(&mut Draws) -> Log,
}

impl Family {
    /// Run `number` of it.
    pub fn log(&self, number: u64) -> Log {
        (self.draw)(&mut Draws::new(&format!("{}: {}", self.group, self.name), number))
    }
}
