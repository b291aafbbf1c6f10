//! The sampler never gets the trainer's weights.
//! Measured: |ln μ − ln π_ref| over |ln π_old − ln π_ref| at the last step.
//! Null: a level, 0.2: 0.02 to 0.07 where weights are never sent, 0.8 to 1.4 where they are.
//! Misses: a log without the reference: then it is a stale sampler.
//! Looks alike: old weights, which follow at a distance; a trainer that reads its text wrong, where the gap is there
//! from the start.

use crate::measure::FAR;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// At most this part of the trainer's way.
pub const STAYED: f64 = 0.2;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::SamplerFrozen,
    null: Null::Level { bound: STAYED, why: "0.8 to 1.4 in runs whose sampler follows" },
    needs: &[Need::Column(Column::Rollout), Need::Column(Column::Reference)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[Code::TrainerDisagreesWithItself],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap().filter(|_| !measures.agreement().is_broken())?;
    let ratio = gap.to_reference.filter(|ratio| *ratio < STAYED && gap.last > FAR)?;
    let why = vec![
        Proof::new(
            "the sampler's way from the reference over the trainer's, at the end",
            ratio,
            "0.8 to 1.4",
        ),
        Proof::new("gap at the first step", gap.first, "below 0.08"),
        Proof::new("gap at the last step", gap.last, "below 0.1"),
    ];
    let sentence = format!(
        "the sampler stays where training began: it is {:.0} % of the trainer's way from the reference at the end, and \
         the gap goes from {:.2} to {:.2}; new weights do not reach it",
        100.0 * ratio,
        gap.first,
        gap.last
    );
    let onset = gap.grown_from.or(measures.first_step());
    // Without growth it is a gap that was always there, or the log begins too late to tell.
    if !gap.has_grown() && measures.holds_the_start() {
        return None;
    }
    Some(
        Finding::likely(Code::SamplerFrozen, 1.0 - ratio, sentence, why)
            .likely_if(gap.has_grown())
            .from_step(onset),
    )
}
