//! The sampler's weights are old, and get older.
//! Measured: root mean square of d = ln π_old − ln μ at the last step over that at the first.
//! Null: a level, threefold and 0.15: a healthy lag of a step has 0.07 to 0.1.
//! Misses: a lag that is there from the log's first step on.
//! Looks alike: weights that are never sent (`sampler_frozen`); weights that sending spoils, which jump.

use crate::causes::sampler_frozen::STAYED;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::StaleSampler,
    null: Null::Level { bound: 3.0, why: "a lag of a step or two does not grow threefold" },
    needs: &[Need::Column(Column::Rollout), Need::Steps(2)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[Code::TrainerDisagreesWithItself, Code::SyncCorruptsWeights, Code::LargeUpdates],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap().filter(|gap| gap.has_grown() && !measures.agreement().is_broken())?;
    if gap.to_reference.is_some_and(|ratio| ratio < STAYED) {
        return None;
    }
    let mut why = vec![
        Proof::new("gap at the last step over the first", gap.last / gap.first, "below 3"),
        Proof::new("gap at the last step", gap.last, "below 0.1"),
    ];
    if let Some([newest, older]) = gap.by_lag {
        why.push(Proof::new("gap with the newest weights of a step", newest, "below 0.08"));
        why.push(Proof::new("gap with older ones", older, "below 0.1"));
    }
    let sentence = format!(
        "the gap between trainer and sampler grows from {:.2} to {:.2}: the sampler's weights get older as the run \
         goes on",
        gap.first, gap.last
    );
    let share = 1.0 - (gap.first / gap.last).powi(2);
    Some(Finding::likely(Code::StaleSampler, share, sentence, why).from_step(gap.grown_from))
}
