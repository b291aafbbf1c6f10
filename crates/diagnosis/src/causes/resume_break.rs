//! The run broke where it was resumed.
//! Measured: how many series (entropy, way from the reference, gap, length) jump where versions of the sampler's
//! weights start anew, by eight typical changes from step to step.
//! Null: a level, two of them: one may jump with the data, several at a restart do not.
//! Misses: a restart that leaves no trace in `policy_version`.
//! Looks alike: weights that sending spoils, in the middle of a run.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const SERIES: usize = 2;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::ResumeBreak,
    null: Null::Level { bound: 2.0, why: "one series may jump with the data" },
    needs: &[Need::Column(Column::Version), Need::Steps(6)],
    symptoms: &[Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let restart = measures.restarts().iter().find(|restart| restart.jumped.len() >= SERIES)?;
    let share = restart.jumped.len() as f64 / restart.looked_at as f64;
    let why = vec![Proof::new("series that jump at the restart", restart.jumped.len() as f64, "at most 1")];
    let sentence = format!(
        "versions of the sampler's weights start anew at step {}, and {} jump there",
        restart.step,
        restart.jumped.join(", ")
    );
    Some(Finding::likely(Code::ResumeBreak, share, sentence, why).from_step(Some(restart.step)))
}
