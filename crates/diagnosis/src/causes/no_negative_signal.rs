//! No response is pushed down.
//! Measured: responses with A < 0, and with A > 0.
//! Null: both signs: any baseline inside of a group or a batch gives them.
//! Misses: a run in which some are left: possible where most groups lack the sign.
//! Looks alike: too few responses with an advantage; rejection sampling, where it is meant.

use super::one_sided::{self, Sign};
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
    let signs = measures.advantages().signs;
    let sign = Sign {
        responses: [all.pushed_up, all.pushed_down],
        lacking: [signs[1], signs[0]],
        ways: ["up", "down"],
        hint: "keep the negative advantages, if it is not rejection sampling on purpose: without them wrong answers are never \
         unlearned",
    };
    one_sided::finding(Code::NoNegativeSignal, &sign, measures)
}
