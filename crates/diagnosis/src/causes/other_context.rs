//! Trainer and sampler see different texts before the response.
//! Measured: root mean square of d = ln π_old − ln μ at first tokens over that from the twentieth on.
//! Null: a level, 1.4: rounding is the same or smaller at the first token; 1.7 to 2.5 with another prompt.
//! Misses: a difference that the first token does not depend on.
//! Looks alike: a sampler whose prefill has other kernels, which is small; late in training all gaps look like this,
//! so that it is likely at the training's start alone.

use crate::measure::Explanation;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::OtherContext,
    null: Null::Level { bound: 1.4, why: "rounding is no larger at the first token than later" },
    needs: &[Need::Column(Column::Rollout)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[Code::TrainerDisagreesWithItself],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap().filter(|gap| gap.explanation == Explanation::OtherContext)?;
    let times = gap.first_token / gap.later;
    let why = vec![
        Proof::new("gap at the first token over later", times, "below 1.4"),
        Proof::new("gap at the first token", gap.first_token, "below 0.1"),
        Proof::new("gap from the twentieth token on", gap.later, "below 0.08"),
    ];
    let sentence = format!(
        "trainer and sampler disagree most where nothing of the response is known: by {:.2} at the first token, {:.2} \
         later; their prompts, templates or attention masks differ",
        gap.first_token, gap.later
    );
    Some(
        Finding::likely(Code::OtherContext, 1.0, sentence, why)
            .likely_if(measures.holds_the_start())
            .from_step(measures.first_step()),
    )
}
