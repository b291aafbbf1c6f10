//! Tokens of the environment are trained on.
//! Measured: trained inner tokens without a value of the sampler's, of responses that have others (measure::trained).
//! Null: none. Engines leave out the first token's, the last one's or a whole response's; a level of 1 % for what else a
//! logger drops.
//! Misses: logs without `logprob_rollout`.
//! Looks alike: an engine that gives no value for rare tokens. Those stand alone, in the midst of others: observations stand
//! in rows, and where a mask is off by one, alone at its edge.

use super::percent;
use crate::measure::trained::{first_step, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.01;
/// Of the undrawn tokens, those that stand as observations do.
const MANY: f64 = 0.25;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::ObservationTrained,
    null: Null::Level { bound: LEVEL, why: "a sampler has a value for every inner token that it drew" },
    needs: &[Need::Column(Column::Rollout)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let undrawn = share(all.undrawn, all.inner);
    if undrawn <= LEVEL {
        return None;
    }
    let [in_rows, at_edges] =
        [all.undrawn_in_rows, all.undrawn_at_edges].map(|part| share(part, all.undrawn));
    let is_off_by_one = at_edges > 0.5;
    let what = match (is_off_by_one, in_rows > MANY) {
        (true, _) => "alone at the edge of the mask: it is shifted by one token",
        (false, true) => "several in a row: they are the environment's",
        (false, false) => "alone among others: the engine may give no value for rare tokens",
    };
    let why = vec![
        Proof::new("trained tokens that the sampler did not draw", undrawn, "0"),
        Proof::new("of these, in rows", in_rows, "–"),
        Proof::new("of these, alone at the edge of the mask", at_edges, "–"),
    ];
    let sentence = format!(
        "{} of the trained tokens have no log-probability of the sampler's, {what}; take them out of the training mask",
        percent(undrawn)
    );
    let from = first_step(&measures.evidence.rewards, LEVEL, |step| [step.undrawn, step.inner]);
    Some(
        Finding::likely(Code::ObservationTrained, undrawn, sentence, why)
            .likely_if(is_off_by_one || in_rows > MANY)
            .from_step(from),
    )
}
