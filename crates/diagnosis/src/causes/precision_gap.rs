//! Trainer and sampler compute different probabilities from the same weights: the named remainder of the gap.
//! Measured: root mean square of d = ln π_old − ln μ at the training's first step, where nothing else explains it.
//! Null: a level, 0.08: bfloat16 against bfloat16 with a cache has 0.05 to 0.06; 0.1 to 0.6 with weights of 4 or 5 bits.
//! Misses: a difference of arithmetic that the reference's values share.
//! Looks alike: all that has a name of its own, which is asked about first; old weights, which is why it is likely at
//! the training's start alone.

use crate::measure::{ARITHMETIC, Explanation};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::PrecisionGap,
    null: Null::Level { bound: ARITHMETIC, why: "bfloat16 on either side makes 0.05 to 0.06" },
    needs: &[Need::Column(Column::Rollout)],
    symptoms: &[Symptom::Damaged],
    follows: &[Code::TrainerDisagreesWithItself, Code::MisalignedLog, Code::PositionShifted],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap =
        measures.gap().filter(|gap| gap.explanation == Explanation::Remainder && gap.first > ARITHMETIC)?;
    let mut why = vec![
        Proof::new("gap at the first step", gap.first, "below 0.08"),
        Proof::new("at the first token", gap.first_token, "0 to 0.06"),
        Proof::new("from the twentieth token on", gap.later, "0.06"),
    ];
    let [rare, _, probable] = gap.by_probability;
    why.push(Proof::new("of tokens below 1 %", rare, "0.04 to 0.08"));
    why.push(Proof::new("of tokens above 50 %", probable, "0.01 to 0.02"));
    if let Some([_, later]) = gap.by_turn {
        why.push(Proof::new("in later turns", later, "0.03 to 0.06"));
    }
    let sentence = format!(
        "trainer and sampler differ by {:.2} nats a token at the first step, as much at the first token ({:.2}) as \
         later ({:.2}) or less: other precision, adapter or kernels",
        gap.first, gap.first_token, gap.later
    );
    Some(
        Finding::likely(Code::PrecisionGap, 1.0 - (ARITHMETIC / gap.first).powi(2), sentence, why)
            .likely_if(measures.holds_the_start())
            .from_step(measures.first_step()),
    )
}
