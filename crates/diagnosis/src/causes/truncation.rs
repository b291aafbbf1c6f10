//! Responses are cut from the start.
//! Measured: the share that is cut, at the first step and over the last fifth of the steps.
//! Null: a level of one half at both: what was cut at first and is not any more was unlearned, unless no answer was ever
//! right; what is cut only later is damage.
//! Misses: cuts that are not logged.
//! Looks alike: an entropy bonus, or an end that is untrained: lengths grow, first cuts are few.

use super::percent;
use crate::measure::trained::{cut_first_and_last, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.5;
const MENTIONED: f64 = 1.0 / 3.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::Truncation,
    null: Null::Level { bound: LEVEL, why: "most of what is rewarded never ended" },
    needs: &[Need::Column(Column::Truncated)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[Code::EndUntrained],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let [first, last] = cut_first_and_last(&measures.evidence.rewards)?;
    // What was cut at first and is short now, with nothing right ever, fled the budget.
    let fled = measures.outcome.never_right && first > LEVEL;
    if first.min(last) <= MENTIONED && !fled {
        return None;
    }
    let all = measures.totals();
    let why = vec![
        Proof::new("cut at the first step", first, "below 0.5"),
        Proof::new("cut over the last fifth", last, "below 0.5"),
        Proof::new("cut over the run", share(all.cut, all.cut_known), "–"),
    ];
    let sentence = format!(
        "{} of the responses are cut at the first step and {} at the end: raise the length budget, or leave cut responses \
         out of the loss",
        percent(first),
        percent(last)
    );
    let onset = measures.evidence.rewards.steps.keys().next().copied();
    Some(
        Finding::likely(Code::Truncation, first.min(last).max(if fled { first } else { 0.0 }), sentence, why)
            .likely_if(first.min(last) > LEVEL || fled)
            .from_step(onset),
    )
}
