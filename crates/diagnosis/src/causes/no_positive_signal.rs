//! No response is pushed up.
//! Measured: responses with A > 0, and with A < 0.
//! Null: both signs: any baseline inside of a group or a batch gives them.
//! Misses: a run in which some are left: possible where most groups lack the sign.
//! Looks alike: too few responses with an advantage.

use super::one_sided::{self, Sign};
use crate::{Cause, Code, Examined, Measures, Need, Null, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::NoPositiveSignal,
    null: Null::Identity { rounding: 1e-6 },
    needs: &[Need::Column(Column::Advantage)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let signs = measures.advantages().signs;
    let sign = Sign {
        responses: [all.pushed_down, all.pushed_up],
        lacking: [signs[2], signs[0]],
        ways: ["down", "up"],
        hint: "look at the baseline that is taken off the rewards: pushing down alone drives the policy to noise",
    };
    one_sided::finding(Code::NoPositiveSignal, &sign, measures)
}
