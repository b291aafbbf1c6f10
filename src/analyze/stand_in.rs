//! What stands in for a column that is not logged, so that the rest of a run can be told.

use crate::ingest::{Column, Run};

/// Columns that are not logged and that 0 stands in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StandIn {
    /// Of the entropy.
    pub entropy: bool,
    /// Of the advantage.
    pub advantage: bool,
}

impl StandIn {
    /// What a run lacks of what a whole analysis needs.
    pub fn of(run: &Run) -> Self {
        Self {
            entropy: !run.has(Column::Entropy),
            advantage: !run.has(Column::Advantage) && !run.has(Column::AdvantageSeq),
        }
    }

    /// Whether there is any: nothing can be said of gradients and of spurious tokens.
    pub fn any(self) -> bool {
        self.entropy || self.advantage
    }
}
