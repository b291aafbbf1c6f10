//! An entropy bonus pushes the policy apart.
//! Measured: push, the slope of ln π_θ − ln π_old on −(ln p + H) at a step's last update, beside A and the reference: a
//! bonus raises what is rarer than the entropy announces.
//! Null: no push, z below 5 over groups; and a level, 0.015: 0.028 and 0.048 with a bonus, at most 0.009 elsewhere.
//! Misses: one mini-batch a step; a bonus that raises entropy without harm.
//! Looks alike: dropout, which regresses to the mean: then nothing is said.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const PUSH: f64 = 0.015;
const Z: f64 = 5.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::EntropyPushed,
    null: Null::Level { bound: PUSH, why: "at most 0.009 in runs without a bonus" },
    needs: &[
        Need::Column(Column::New),
        Need::Column(Column::Entropy),
        Need::Column(Column::Advantage),
        Need::Updates(2),
        Need::Steps(2),
    ],
    symptoms: &[Symptom::Damaged],
    follows: &[Code::TrainerDisagreesWithItself, Code::LargeUpdates],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let push = measures.push().filter(|_| !measures.agreement().is_broken())?.entropy?;
    if push.value <= PUSH || push.z <= Z {
        return None;
    }
    let mut why = vec![
        Proof::new("push to what is rare", push.value, "at most 0.009"),
        Proof::new("z of it, over groups", push.z, "below 5"),
    ];
    let entropy =
        |step: Option<(i64, &stapo_evidence::policies::Step)>| step.and_then(|(_, sums)| sums.entropy.mean());
    why.extend(entropy(measures.steps().next()).map(|h| Proof::new("entropy at the first step", h, "")));
    why.extend(
        entropy(measures.steps().next_back()).map(|h| Proof::new("entropy at the last step", h, "falls")),
    );
    let sentence = format!(
        "updates raise tokens by how rare they are, whatever their advantage ({:+.3} a nat, z {:.0}): an entropy bonus \
         is at work",
        push.value, push.z
    );
    Some(Finding::likely(Code::EntropyPushed, push.value, sentence, why).from_step(measures.first_step()))
}
