//! Responses are cut from the start.
//! Measured: the share that is cut, at the first step and over the last fifth of the steps.
//! Null: a level of one half at both: what was cut at first and is not any more was unlearned, unless no answer was ever
//! right; what is cut only later is damage.
//! Where nothing says which responses were cut, those of the longest length are, if it is round and many have it.
//! Misses: cuts that are not logged of texts, whose lengths are in characters.
//! Looks alike: an entropy bonus, or an end that is untrained: lengths grow, first cuts are few.

use super::percent;
use crate::measure::trained::{Cut, cut};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};

const LEVEL: f64 = 0.5;
const MENTIONED: f64 = 1.0 / 3.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::Truncation,
    null: Null::Level { bound: LEVEL, why: "most of what is rewarded never ended" },
    needs: &[Need::Cut],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[Code::EndUntrained],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let Cut { first, last, all, budget } = cut(&measures.evidence.rewards)?;
    // What was cut at first and is short now, with nothing right ever, fled the budget.
    let fled = measures.outcome.never_right && first > LEVEL;
    if first.min(last) <= MENTIONED && !fled {
        return None;
    }
    let why = vec![
        Proof::new("cut at the first step", first, "below 0.5"),
        Proof::new("cut over the last fifth", last, "below 0.5"),
        Proof::new("cut over the run", all, "–"),
    ];
    let are_cut = match budget {
        None => "are cut".to_owned(),
        Some(budget) => format!("have {budget} tokens, which none exceeds,"),
    };
    let sentence = format!(
        "{} of the responses {are_cut} at the first step and {} at the end: raise the length budget, or leave cut responses \
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
