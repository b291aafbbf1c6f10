//! The policy moves too far within a step.
//! Measured: k3 of π_θ against π_old by step, log-ratios cut at ±2.3.
//! Null: a level, 0.033 in two steps (the clip's own edge, 0.2 to 0.28 at every token) and 0.1 in one of them;
//! without that it is possible.
//! Misses: logs whose `logprob_new` is of the first mini-batch.
//! Looks alike: the trainer's own noise, which looks like a move and is asked about first.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// k3 where every token lies at the edge of a clip of 0.28: 0.28 − ln 1.28.
const EDGE: f64 = 0.033;
const BEYOND: f64 = 0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::LargeUpdates,
    null: Null::Level { bound: EDGE, why: "every token at the edge of the clip" },
    needs: &[Need::Column(Column::New), Need::Steps(2)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning, Symptom::NotFinite],
    follows: &[Code::TrainerDisagreesWithItself, Code::AdvantageBlowup],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    if measures.agreement().is_broken() {
        return None;
    }
    let steps: Vec<(i64, f64)> =
        measures.steps().filter_map(|(step, sums)| Some((step, sums.k3.mean()?))).collect();
    let far: Vec<&(i64, f64)> = steps.iter().filter(|(_, k3)| *k3 > EDGE).collect();
    let largest = far.iter().map(|(_, k3)| *k3).fold(0.0, f64::max);
    if far.len() < 2 {
        return None;
    }
    let why = vec![
        Proof::new("largest k3 of a step", largest, "below 0.033"),
        Proof::new("steps beyond the edge of the clip", far.len() as f64, "0"),
    ];
    let sentence = format!(
        "the policy moves by a k3 of up to {largest:.2} within a step, and beyond the clip's own edge in {} of {} steps",
        far.len(),
        steps.len()
    );
    let share = far.len() as f64 / steps.len() as f64;
    Some(
        Finding::likely(Code::LargeUpdates, share, sentence, why)
            .likely_if(largest > BEYOND)
            .from_step(far.first().map(|(step, _)| *step)),
    )
}
