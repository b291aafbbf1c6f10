//! The token that ends a response is never in the mask.
//! Measured: responses that the policy ended (`finish_reason` stop) and whose last token or two are untrained after a
//! trained one.
//! Null: none; a level of one half, since it is all of them where a mask is built without the end.
//! Misses: logs without `finish_reason`; masks that leave out longer endings.
//! Looks alike: an observation at the end of a response, which is longer; a response that is left out as a whole.

use super::percent;
use crate::measure::trained::{first_step, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.5;
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
    let from = first_step(&measures.evidence.rewards, LEVEL, |step| [step.end_untrained, step.finished]);
    Some(Finding::likely(Code::EndUntrained, untrained, sentence, why).from_step(from))
}
