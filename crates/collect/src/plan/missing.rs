//! What a whole analysis needs and a run lacks.

use stapo_batch::columns::Column;
use stapo_ingest::Run;
use stapo_result::stand_in::StandIn;

/// What a run lacks of what a whole analysis needs.
pub fn missing_of(run: &Run) -> StandIn {
    StandIn {
        logprob: run.is_of_texts(),
        entropy: !run.has(Column::Entropy),
        advantage: !run.has(Column::Advantage) && !run.has(Column::AdvantageSeq),
    }
}
