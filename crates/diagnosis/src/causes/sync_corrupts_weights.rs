//! Sending the weights changes them.
//! Measured: root mean square of d = ln π_old − ln μ of a version of the sampler's weights over the largest before.
//! Null: a level, threefold and 0.15; and 1.5 times the way that the trainer has gone from its reference: no weights
//! that it ever had are as far away.
//! Misses: a loss that is there from the first version on.
//! Looks alike: old weights, which are as far as the trainer went.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::SyncCorruptsWeights,
    null: Null::Level { bound: 1.5, why: "old weights are at most as far as the trainer went" },
    needs: &[Need::Column(Column::Rollout), Need::Column(Column::Version), Need::Steps(2)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[Code::TrainerDisagreesWithItself],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let jump = measures.sync_jump().filter(|_| !measures.agreement().is_broken())?;
    let is_beyond = jump.is_beyond_the_trainer();
    if is_beyond == Some(false) {
        return None;
    }
    let mut why = vec![
        Proof::new("gap at the version", jump.at, "that of the version before"),
        Proof::new("largest gap before", jump.before, "below 0.08"),
    ];
    why.extend(
        jump.moved.map(|moved| Proof::new("the trainer's way from its reference", moved, "above the gap")),
    );
    let sentence = format!(
        "with version {} of the sampler's weights the gap jumps from {:.2} to {:.2}{}: sending changed the weights",
        jump.version,
        jump.before,
        jump.at,
        jump.moved
            .map_or_else(String::new, |moved| format!(", while the trainer has moved by {moved:.2} in all")),
    );
    Some(
        Finding::likely(Code::SyncCorruptsWeights, 1.0 - (jump.before / jump.at).powi(2), sentence, why)
            .likely_if(is_beyond == Some(true))
            .from_step(Some(jump.step)),
    )
}
