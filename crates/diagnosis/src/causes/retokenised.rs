//! Responses were decoded and encoded again: the trainer's tokens are not the sampler's.
//! Measured: the share of the first step's Σd² in the top twentieth of its responses.
//! Null: a level, a half: 0.1 to 0.4 for whatever is done to all responses; 0.68 to 0.79 where some were encoded to
//! other tokens.
//! Misses: a tokenizer that changes nearly all responses.
//! Looks alike: one response that failed: its share at the first step is below a twentieth.

use crate::measure::Explanation;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const SWINGS: f64 = -0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::Retokenised,
    null: Null::Level { bound: 0.5, why: "a gap of all responses has at most 0.4 there" },
    needs: &[Need::Column(Column::Rollout)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap().filter(|gap| gap.explanation == Explanation::Retokenised)?;
    let why = vec![
        Proof::new("share of Σd² in a twentieth of the responses", gap.top, "0.14"),
        Proof::new("correlation of neighbours", gap.neighbours, "about 0; below 0 where values moved aside"),
    ];
    let sentence = format!(
        "{:.0} % of the gap between trainer and sampler lies in one response of twenty: these were encoded to other \
         tokens than were sampled",
        100.0 * gap.top
    );
    // Later in a run old weights have a heavy tail as well; values of other tokens swing from one to the next.
    let swings = gap.neighbours < SWINGS;
    Some(
        Finding::likely(Code::Retokenised, gap.top, sentence, why)
            .likely_if(measures.holds_the_start() || swings)
            .from_step(measures.first_step()),
    )
}
