//! The correction of the sampler's gap leaves next to nothing of a batch.
//! Measured: (Σw)² / (n Σw²) of the logged importance weights of a step: the share of its tokens that count.
//! Null: a level, a tenth in half of the steps: a batch that was paid for ten times over.
//! Misses: corrections that are not logged.
//! Looks alike: a mask for a few tokens with a huge ratio, which leaves the rest.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;
use stapo_evidence::policies::Weights;

const LEFT: f64 = 0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::CorrectionEmptiesTheBatch,
    null: Null::Level { bound: LEFT, why: "nine tenths of the samples are thrown away" },
    needs: &[Need::Column(Column::IsWeight)],
    symptoms: &[Symptom::NotLearning],
    follows: &[
        Code::TrainerDisagreesWithItself,
        Code::MisalignedLog,
        Code::OtherContext,
        Code::Retokenised,
        Code::SamplerFrozen,
        Code::StaleSampler,
        Code::SyncCorruptsWeights,
        Code::PositionShifted,
        Code::SamplerTruncation,
        Code::SamplerTemperature,
        Code::PrecisionGap,
    ],
    examine,
};

/// The share of tokens that count.
fn effective(weights: &Weights) -> f64 {
    let (sum, squares) = (weights.sum.value(), weights.squares.value());
    if squares > 0.0 { sum * sum / (squares * weights.tokens as f64) } else { 0.0 }
}

fn examine(measures: &Measures<'_>) -> Examined {
    let steps: Vec<(i64, f64)> = measures
        .steps()
        .filter(|(_, step)| step.weights.tokens > 0)
        .map(|(step, sums)| (step, effective(&sums.weights)))
        .collect();
    let empty: Vec<&(i64, f64)> = steps.iter().filter(|(_, share)| *share < LEFT).collect();
    let (onset, _) = **empty.first()?;
    let share = empty.len() as f64 / steps.len() as f64;
    if share < 0.5 {
        return None;
    }
    let mean = steps.iter().map(|(_, share)| share).sum::<f64>() / steps.len() as f64;
    let why = vec![
        Proof::new("share of a step's tokens that count", mean, "above 0.5"),
        Proof::new("share of steps below a tenth", share, "0"),
    ];
    let sentence = format!(
        "the importance weights leave {:.1} % of a batch, and less than a tenth in {} of {} steps",
        100.0 * mean,
        empty.len(),
        steps.len()
    );
    Some(Finding::likely(Code::CorrectionEmptiesTheBatch, share, sentence, why).from_step(Some(onset)))
}
