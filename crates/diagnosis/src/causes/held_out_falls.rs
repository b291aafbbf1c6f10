//! The score on held-out rows falls.
//! Measured: differences by question between an earlier window of evaluations and the last fifth of them
//! (measure::held_out), having lost a fifth of its height and a twentieth of the range.
//! Null: chance, 1e-3 over all windows (t over questions).
//! Misses: fewer than eight questions; a fall that is smaller.
//! Looks alike: damage, in which the reward of training falls as well: then only possible.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const ALPHA: f64 = 1e-3;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::HeldOutFalls,
    null: Null::Chance { alpha: ALPHA, looks: 1 },
    needs: &[Need::Column(Column::HeldOut)],
    symptoms: &[Symptom::HeldOutFalls],
    follows: &[Code::RewardHacking, Code::LargeUpdates],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let fall = measures.held_out_fall().filter(|fall| fall.chance < ALPHA)?;
    let why = vec![
        Proof::new("held-out score before", fall.before, "no fall"),
        Proof::new("held-out score at the end", fall.after, "no fall"),
        Proof::new("chance of it", fall.chance, "above 0.001"),
    ];
    let sentence = format!(
        "the score on held-out rows falls from {:.3} (step {}) to {:.3} at the end, over {} questions: what is learned does \
         not carry over; take an earlier checkpoint",
        fall.before, fall.from, fall.after, fall.questions
    );
    let lost = (fall.before - fall.after) / fall.before.abs().max(1e-9);
    let is_damaged = measures.outcome.symptom == Some(Symptom::Damaged);
    Some(
        Finding::likely(Code::HeldOutFalls, lost, sentence, why)
            .likely_if(!is_damaged)
            .from_step(Some(fall.from)),
    )
}
