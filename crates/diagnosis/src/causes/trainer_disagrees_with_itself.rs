//! Two looks of the trainer at one token differ: dropout, batches that change the result, another mode of layers.
//! Measured: ln π_θ − ln π_old of the median response in a step's first update; H and ln π_old of equal first tokens
//! between siblings. Both are of one set of weights.
//! Null: a level, 0.1: packing and padding move them by some hundredths.
//! Misses: noise that is drawn once a step.
//! Looks alike: groups whose prompts differ (compared first); entropies of other rows, where ln π agrees.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::TrainerDisagreesWithItself,
    null: Null::Level { bound: 0.1, why: "packed and padded batches differ by some hundredths" },
    needs: &[Need::Column(Column::Logprob)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning, Symptom::NotFinite],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let agreement = measures.agreement();
    if !agreement.is_broken() {
        return None;
    }
    let numbers = [
        ("ln π_θ − ln π_old in the first update", agreement.update_zero),
        ("ln π_old of equal first tokens of siblings", agreement.logprob),
        ("H at the first token of siblings", agreement.entropy),
    ];
    let why: Vec<Proof> = numbers
        .into_iter()
        .filter_map(|(name, value)| Some(Proof::new(name, value?, "0 but for rounding")))
        .collect();
    let said: Vec<String> = why.iter().map(|proof| format!("{} by {:.2}", proof.name, proof.value)).collect();
    let sentence = format!("two forward passes of the trainer over one text differ: {}", said.join(", "));
    Some(
        Finding::likely(Code::TrainerDisagreesWithItself, 1.0, sentence, why)
            .from_step(measures.first_step()),
    )
}
