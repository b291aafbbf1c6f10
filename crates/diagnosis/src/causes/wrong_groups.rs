//! The baseline is taken over other responses than siblings.
//! Measured: groups whose mean advantage is not 0, and another grouping of the whole step (every n-th response, or
//! neighbours, in the order of the log) whose means are.
//! Null: none: a mean over the wrong responses is 0 in another grouping by no chance.
//! Misses: baselines over groups in any other order; logs whose rows are shuffled within a step.
//! Looks alike: a baseline over the batch or over the past: then no grouping has means of 0.

use crate::measure::advantages::Other;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::WrongGroups,
    null: Null::Identity { rounding: 0.01 },
    needs: &[Need::Column(Column::Advantage)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let advantages = measures.advantages();
    if !advantages.show_wrong_groups() || measures.totals().pushed_down == 0 {
        return None;
    }
    let off = advantages.off as f64 / advantages.advantaged.max(1) as f64;
    let other = match advantages.other? {
        Other::Strided => "of every n-th response of the step (repeat instead of repeat_interleave)",
        Other::Neighbours => "of neighbours in the step (repeat_interleave instead of repeat)",
    };
    let why = vec![
        Proof::new("groups whose advantages have a mean other than 0", off, "0"),
        Proof::new("groups with an advantage", advantages.advantaged as f64, "–"),
    ];
    let sentence = format!(
        "the advantages' mean is not 0 in {} of {} groups, and is in groups {other}: the baseline is of other questions",
        advantages.off, advantages.advantaged
    );
    Some(Finding::likely(Code::WrongGroups, off, sentence, why).from_step(advantages.off_from))
}
