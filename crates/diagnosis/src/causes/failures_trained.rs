//! Responses that failed for outer reasons are trained on.
//! Measured: responses with a status of failure (error, timeout, abort) that are trained with an advantage; or responses of
//! at most two tokens with the lowest reward, most of which do not end as others do.
//! Null: none; a level of 1 % (2 % by length alone), below which they weigh nothing.
//! Misses: failures with a full text and no status, which only the reward shows.
//! Looks alike: short answers that are wrong: they end in the end token; failures that a trainer masks.

use super::percent;
use crate::measure::trained::{first_step, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.01;
const NEAR_EMPTY: f64 = 0.02;
/// Tokens of the median response beside which two are next to none.
const USUAL: f64 = 10.0;
const MOST: f64 = 0.5;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::FailuresTrained,
    null: Null::Level { bound: LEVEL, why: "a response that nobody answered says nothing of the policy" },
    needs: &[Need::Column(Column::Reward)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    by_status(measures).or_else(|| by_length(measures))
}

fn by_status(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let failed = share(all.failed, all.responses);
    if failed <= LEVEL {
        return None;
    }
    let sentence = format!(
        "{} of the responses carry a status of failure (finish_reason) and are trained with an advantage: leave them out, or \
         draw them again",
        percent(failed)
    );
    let why = vec![Proof::new("failed responses that are trained", failed, "0")];
    let from = first_step(&measures.evidence.rewards, LEVEL, |step| [step.failed, step.responses]);
    Some(Finding::likely(Code::FailuresTrained, failed, sentence, why).from_step(from))
}

fn by_length(measures: &Measures<'_>) -> Examined {
    let empty = measures.near_empty();
    let ends_otherwise = empty.without_end.is_none_or(|share| share > MOST);
    if empty.share <= NEAR_EMPTY || empty.usual <= USUAL || !ends_otherwise {
        return None;
    }
    let why = vec![
        Proof::new("responses of at most two tokens with the lowest reward", empty.share, "0"),
        Proof::new("tokens of the median response", empty.usual, "–"),
    ];
    let sentence = format!(
        "{} of the responses have at most two tokens, no end and the lowest reward: they failed for outer reasons, and are \
         trained as if the policy had",
        percent(empty.share)
    );
    Some(Finding::likely(Code::FailuresTrained, empty.share, sentence, why).from_step(empty.from))
}
