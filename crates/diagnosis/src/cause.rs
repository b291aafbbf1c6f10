//! What a cause is: a row of the table.

use crate::{Code, Examined, Measures, Null};
use stapo_evidence::Column;

/// A cause: what it needs, what it can bring about, what it follows from, and how it is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    /// Its name.
    pub code: Code,
    /// What its number is held against.
    pub null: Null,
    /// Without these it is not checked.
    pub needs: &'static [Need],
    /// What it can bring about.
    pub symptoms: &'static [Symptom],
    /// Causes that bring it about: beside a likely one of these that began no later it is a consequence.
    pub follows: &'static [Code],
    /// Looks for it.
    pub examine: fn(&Measures<'_>) -> Examined,
}

/// What has to be known for a cause to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Values in a column.
    Column(Column),
    /// At least so many logged steps.
    Steps(usize),
    /// At least so many mini-batches a step, told apart by `update`.
    Updates(i64),
    /// Which responses were cut, as logged or by their lengths.
    Cut,
    /// The claims about spurious tokens ([`crate::Spurious`]).
    Claims,
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Column(column) => f.write_str(column.name()),
            Self::Steps(steps) => write!(f, "{steps} logged steps"),
            Self::Updates(updates) => write!(f, "{updates} updates a step, told apart by update"),
            Self::Cut => f.write_str(Column::Truncated.name()),
            Self::Claims => f.write_str("advantages and entropies, for the mask of S2T"),
        }
    }
}

/// What a cause can bring about: what stands behind a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// Values that are not finite.
    NotFinite,
    /// Reward lost that the run once had.
    Damaged,
    /// No gain.
    NotLearning,
    /// Parts of the reward fall while it rises.
    PartsFall,
    /// The score on held-out rows falls while the reward rises.
    HeldOutFalls,
}
