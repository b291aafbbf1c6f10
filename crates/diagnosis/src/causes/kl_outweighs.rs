//! The KL term holds the policy at its reference.
//! Measured: pull, the slope of ln π_θ − ln π_old on ln π_ref − ln π_old at a step's last update, beside A and ln p + H.
//! Null: no pull, z below 5 over groups; and a level, 0.05: 0.11 in runs that it holds, at most 0.03 elsewhere.
//! Misses: one mini-batch a step; a weight too small to stop learning.
//! Looks alike: dropout, which regresses to the mean: then nothing is said.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const PULL: f64 = 0.05;
const Z: f64 = 5.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::KlOutweighs,
    null: Null::Level { bound: PULL, why: "at most 0.03 in runs that learn" },
    needs: &[
        Need::Column(Column::New),
        Need::Column(Column::Reference),
        Need::Column(Column::Advantage),
        Need::Updates(2),
        Need::Steps(2),
    ],
    symptoms: &[Symptom::NotLearning],
    follows: &[Code::TrainerDisagreesWithItself, Code::LargeUpdates],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let pull = measures.push().filter(|_| !measures.agreement().is_broken())?.reference?;
    if pull.value <= PULL || pull.z <= Z {
        return None;
    }
    let why = vec![
        Proof::new("pull to the reference", pull.value, "at most 0.03"),
        Proof::new("z of it, over groups", pull.z, "below 5"),
    ];
    let sentence = format!(
        "each step takes back {:.0} % of the way from the reference (z {:.0}): the KL term outweighs the reward",
        100.0 * pull.value,
        pull.z
    );
    Some(Finding::likely(Code::KlOutweighs, pull.value, sentence, why).from_step(measures.first_step()))
}
