//! The token that ends a response is never in the mask.
//! Measured: responses that the policy ended (`finish_reason` stop) and whose last token or two are untrained after a
//! trained one.
//! Null: none; a level of one half, since it is all of them where a mask is built without the end.
//! Misses: logs without `finish_reason`; masks that leave out longer endings.
//! Looks alike: an observation at the end of a response, which is longer; a response that is left out as a whole; a line feed of
//! the chat template behind an end that is trained: the sampler did not draw it, and the last trained token is one and the same.

use super::percent;
use crate::measure::trained::{first_step, one_last_trained, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.5;
/// Share of responses that have one last trained token, where that is their end.
const ONE: f64 = 0.8;
/// Responses that tell.
const FEWEST: u64 = 20;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::EndUntrained,
    null: Null::Level { bound: LEVEL, why: "a mask that has the end has it everywhere" },
    needs: &[Need::Column(Column::Mask), Need::Column(Column::Finish)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let untrained = share(all.end_untrained, all.finished);
    if untrained <= LEVEL || all.finished < FEWEST {
        return None;
    }
    let why = vec![
        Proof::new("finished responses whose end is untrained", untrained, "0"),
        Proof::new("finished responses", all.finished as f64, "–"),
    ];
    let sentence = format!(
        "the token that ends a response is left out of the mask in {} of {} responses that ended by themselves: nothing \
         teaches the policy to stop",
        percent(untrained),
        all.finished
    );
    let is_drawn = share(all.end_drawn, all.end_untrained) > LEVEL;
    let from = first_step(&measures.evidence.rewards, LEVEL, |step| [step.end_untrained, step.finished]);
    let finding = Finding::likely(Code::EndUntrained, untrained, sentence, why).from_step(from);
    Some(finding.likely_if(is_drawn || one_last_trained(&measures.evidence.rewards) < ONE))
}
