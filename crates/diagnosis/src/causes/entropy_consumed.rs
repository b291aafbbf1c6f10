//! Nothing is left to explore with.
//! Measured: mean entropy over the last fifth of the steps over that at the first.
//! Null: a level, a tenth and 0.1 nats. A fall alone is no fault: healthy runs go from 2.2 to 0.25 nats and reach 0.97,
//! so it is a note unless the run does not learn.
//! Misses: entropy that is high over irrelevant choices.
//! Looks alike: a run that is done.

use crate::{Cause, Code, Confidence, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEFT: f64 = 0.1;
const NATS: f64 = 0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::EntropyConsumed,
    null: Null::Level { bound: LEFT, why: "with a tenth of the entropy siblings are equal" },
    needs: &[Need::Column(Column::Entropy), Need::Steps(4)],
    symptoms: &[Symptom::NotLearning],
    follows: &[Code::LargeUpdates, Code::NoNegativeSignal, Code::UninformativeReward],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let steps: Vec<(i64, f64)> =
        measures.steps().filter_map(|(step, sums)| Some((step, sums.entropy.mean()?))).collect();
    let (_, start) = *steps.first()?;
    let tail = &steps[steps.len() - steps.len().div_ceil(5)..];
    let end = tail.iter().map(|(_, entropy)| entropy).sum::<f64>() / tail.len() as f64;
    if start <= 0.0 || end > LEFT * start || end > NATS {
        return None;
    }
    let onset = steps.iter().find(|(_, entropy)| *entropy <= LEFT * start).map(|(step, _)| *step);
    let stopped = measures.outcome.symptom == Some(Symptom::NotLearning) && measures.holds_the_start();
    let why = vec![
        Proof::new("entropy at the end", end, "0.2 and more while it learns"),
        Proof::new("entropy at the first step", start, ""),
    ];
    let sentence = format!("entropy falls from {start:.2} to {end:.3} nats a token: siblings say the same");
    let confidence = if stopped { Confidence::Likely } else { Confidence::Note };
    Some(
        Finding::likely(Code::EntropyConsumed, 1.0 - end / start, sentence, why)
            .with(confidence)
            .from_step(onset),
    )
}
