//! What a whole analysis needs and a run lacks.

use crate::analyze::stand_in::StandIn;
use crate::ingest::{Column, Run};

/// What a run lacks of what a whole analysis needs.
pub fn missing_of(run: &Run) -> StandIn {
    StandIn {
        entropy: !run.has(Column::Entropy),
        advantage: !run.has(Column::Advantage) && !run.has(Column::AdvantageSeq),
    }
}
