//! Some trained tokens of a response, or some responses of a group, have no advantage.
//! Measured: of the responses with an advantage, those with exactly 0 at a twentieth or more of their trained tokens; and of the
//! responses with the reward of a sibling, those with exactly 0 where that sibling has an advantage.
//! Null: none: an advantage is of the whole response, and equal rewards have equal ones. Likely from a twentieth on.
//! Misses: whole groups without one; see `dead_groups`.
//! Looks alike: a critic or prices of tokens: their advantages differ from token to token, and the rule sleeps; responses
//! that were cut, which some trainers leave out.

use super::percent;
use crate::measure::trained::{first_step, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.05;
/// Responses that tell.
const FEWEST: u64 = 100;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::AdvantageMissing,
    null: Null::Identity { rounding: 0.0 },
    needs: &[Need::Column(Column::Advantage)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    if measures.advantages().are_of_tokens {
        return None;
    }
    of_tokens(measures).or_else(|| of_responses(measures))
}

fn of_tokens(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let missing = share(all.partly_zero, all.advantaged);
    if missing <= LEVEL {
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

fn of_responses(measures: &Measures<'_>) -> Examined {
    let [all, zeroed] = measures.advantages().zeroed;
    let missing = share(zeroed, all);
    if missing <= LEVEL || all < FEWEST {
        return None;
    }
    let why = vec![
        Proof::new("responses without the advantage that a sibling of their reward has", missing, "0"),
        Proof::new("responses with the reward of a sibling", all as f64, "–"),
    ];
    let sentence = format!(
        "{zeroed} of {all} responses have no advantage where a sibling of the same reward has one: a shard, a filter or a join \
         loses them"
    );
    Some(Finding::likely(Code::AdvantageMissing, missing, sentence, why))
}
