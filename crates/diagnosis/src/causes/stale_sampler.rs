//! The sampler's weights are old, and get older.
//! Measured: root mean square of d = ln π_old − ln μ in the last third of the steps, over that at the first.
//! Null: a level, threefold and the edge of the clip, 0.247: a healthy lag of a step has 0.07 to 0.1, of two 0.2; possible
//! from 0.15 on.
//! Misses: a lag that is there from the log's first step on.
//! Looks alike: weights that are never sent (`sampler_frozen`); weights that sending spoils, which jump.

use crate::causes::sampler_frozen::STAYED;
use crate::measure::EDGE;
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
        Proof::new("gap at the end over that at the first step", gap.last / gap.first, "below 3"),
        Proof::new("gap at the end", gap.last, "below 0.247, the clip's edge"),
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
    let finding = Finding::likely(Code::StaleSampler, share, sentence, why).likely_if(gap.last > EDGE);
    Some(finding.from_step(gap.grown_from))
}
