//! Training did not start from its reference.
//! Measured: mean |ln π_old − ln π_ref| over the trained tokens of step 0.
//! Null: an identity: both are one model there; other precision moves it by some hundredths.
//! Misses: a reference that is the wrong model as well.
//! Looks alike: a trainer that reads its text wrong, where the sampler, which has its weights, is at the reference;
//! a reference that is meant to be another model (a teacher); the trainer's own noise, asked about first.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const ROUNDING: f64 = 0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::WrongStart,
    null: Null::Identity { rounding: ROUNDING },
    needs: &[Need::Column(Column::Reference)],
    symptoms: &[Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let (step, sums) = measures.steps().next()?;
    // Some trainers count from 1: there an update may have been made already.
    if step > 1 || measures.agreement().is_broken() {
        return None;
    }
    let far = sums.trainer_to_reference.mean().filter(|far| *far > ROUNDING)?;
    // The sampler has the trainer's weights, but not its way of reading the text.
    let sampler = sums.sampler_to_reference.mean();
    if sampler.is_some_and(|far| far < ROUNDING) {
        return None;
    }
    let sentence = format!(
        "at step {step} the policy is {far:.2} nats a token away from the reference that it should be"
    );
    let why = vec![Proof::new("mean |ln π_old − ln π_ref| at the start", far, "0")];
    Some(
        Finding::likely(Code::WrongStart, 1.0, sentence, why)
            .likely_if(step <= 0 && sampler.is_some())
            .from_step(Some(step)),
    )
}
