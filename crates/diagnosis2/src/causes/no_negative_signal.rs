//! No response is pushed down.
//! Measured: responses with A < 0, and with A > 0.
//! Null: both signs: any baseline inside of a group or a batch gives them.
//! Misses: a run in which some are left.
//! Looks alike: too few responses with an advantage; rejection sampling, where it is meant.

use super::one_sided;
use crate::{Cause, Code, Examined, Measures, Need, Null, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::NoNegativeSignal,
    null: Null::Identity { rounding: 1e-6 },
    needs: &[Need::Column(Column::Advantage)],
    symptoms: &[Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    one_sided::finding(
        Code::NoNegativeSignal,
        [all.pushed_up, all.pushed_down],
        ["up", "down"],
        "keep the negative advantages, if it is not rejection sampling on purpose: without them wrong answers are never \
         unlearned",
        measures,
    )
}
