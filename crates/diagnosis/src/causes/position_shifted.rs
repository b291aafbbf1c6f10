//! Positions are counted with the padding on the left.
//! Measured: rank correlation of a prompt's padding (the step's longest less its own length) with its mean d², over
//! prompts of different length at the training's first step.
//! Null: chance 10⁻³; and the least padded quarter has no gap beyond arithmetic while the others have, at all tokens
//! alike.
//! Misses: batches that are padded to a fixed length.
//! Looks alike: padding that is attended to, which is largest at the first token: `other_context`.

use crate::measure::{ARITHMETIC, Explanation};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const ALPHA: f64 = 1e-3;
/// The normal quantile of 1 − 10⁻³.
const Z: f64 = 3.09;
const CLEAR: f64 = 0.1;
/// A gap so many times that of the least padded, where lengths are too few for a correlation: healthy ones have at most 2.
const WALL: f64 = 5.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::PositionShifted,
    null: Null::Chance { alpha: ALPHA, looks: 1 },
    needs: &[Need::Column(Column::Rollout), Need::Column(Column::PromptLength)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[Code::TrainerDisagreesWithItself, Code::OtherContext],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap().filter(|gap| gap.explanation == Explanation::Remainder)?;
    let padding = measures.padding()?;
    // Of few lengths, as where a task has one, the least padded has nothing and the others much more than arithmetic.
    let is_wall = padding.little < ARITHMETIC && padding.much > (WALL * padding.little).max(2.0 * CLEAR);
    let correlates = padding.z > Z && padding.much > CLEAR;
    if !(correlates || padding.correlation.is_nan() && is_wall) {
        return None;
    }
    let why = vec![
        Proof::new("gap with more padding over that with little", padding.much / padding.little, "1"),
        Proof::new("gap with little padding", padding.little, "that with much"),
        Proof::new("gap with more", padding.much, "below 0.08"),
    ];
    let sentence = format!(
        "the gap between trainer and sampler is {:.2} for the longest prompts of a batch and {:.2} for those that are \
         padded: positions are counted with the padding",
        padding.little, padding.much
    );
    let removed = 1.0 - (padding.little / gap.first.max(f64::MIN_POSITIVE)).powi(2);
    Some(
        Finding::likely(Code::PositionShifted, removed, sentence, why)
            .likely_if(padding.little < ARITHMETIC && measures.holds_the_start())
            .from_step(measures.first_step()),
    )
}
