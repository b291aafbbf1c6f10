//! Some trained tokens of a response have no advantage.
//! Measured: of the responses with an advantage, those with exactly 0 at a twentieth or more of their trained tokens.
//! Null: none: an advantage is of the whole response. Likely from a twentieth of the responses on.
//! Misses: whole responses without one; see `dead_groups`.
//! Looks alike: a critic or prices of tokens: their advantages differ from token to token, and the rule sleeps.

use super::percent;
use crate::measure::trained::{first_step, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.05;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::AdvantageMissing,
    null: Null::Identity { rounding: 0.0 },
    needs: &[Need::Column(Column::TokenAdvantage)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let missing = share(all.partly_zero, all.advantaged);
    if missing <= LEVEL || measures.advantages().are_of_tokens {
        return None;
    }
    let why = vec![
        Proof::new("responses with an advantage that some of their tokens lack", missing, "0"),
        Proof::new("responses with an advantage", all.advantaged as f64, "–"),
    ];
    let sentence = format!(
        "in {} of {} responses with an advantage some trained tokens have 0: part of what was rewarded is not trained (an \
         earlier turn, or the last one's only)",
        percent(missing),
        all.advantaged
    );
    let from = first_step(&measures.evidence.rewards, LEVEL, |step| [step.partly_zero, step.advantaged]);
    Some(Finding::likely(Code::AdvantageMissing, missing, sentence, why).from_step(from))
}
