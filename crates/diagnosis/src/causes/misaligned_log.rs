//! Columns lie on different tokens.
//! Measured: correlation of the trainer's surprisal with entropy, and with the sampler's surprisal, at the token and
//! one aside.
//! Null: a level: a neighbour that agrees better by 0.1, far beyond the error of a correlation over thousands of
//! tokens; or less than 0.25 between two surprisals of one token that vary alike: other weights and temperatures
//! leave far more.
//! Misses: a shift by two or more, as long as the correlation stays above 0.25.
//! Looks alike: a trainer with heavy noise, which is asked about first.

use crate::measure::{Aligned, Column as Beside};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const BETTER: f64 = 0.1;
const UNRELATED: f64 = 0.25;
/// A sampler that takes the likeliest token is always certain: its surprisals do not vary.
const VARIES: f64 = 0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::MisalignedLog,
    null: Null::Level { bound: BETTER, why: "ten errors of a correlation over 10,000 tokens" },
    needs: &[Need::Column(Column::Logprob)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[Code::TrainerDisagreesWithItself, Code::Retokenised, Code::OtherContext],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let alignment = measures.alignment();
    let aside = |aligned: &Aligned| aligned.before.max(aligned.after);
    let shifted = alignment.iter().find(|aligned| aside(aligned) > aligned.same + BETTER);
    let unrelated = |aligned: &&Aligned| {
        aligned.column == Beside::Rollout && aligned.same < UNRELATED && aligned.variances > VARIES
    };
    let found = shifted.or_else(|| alignment.iter().find(unrelated))?;
    let name = match found.column {
        Beside::Entropy => Column::Entropy.name(),
        Beside::Rollout => Column::Rollout.name(),
    };
    let side = if found.before > found.after { "before" } else { "after" };
    let sentence = match shifted {
        Some(_) => format!(
            "{name} agrees with logprob better one token {side} ({:.2}) than at the same token ({:.2}): a column is \
             shifted by one",
            aside(found),
            found.same
        ),
        None => format!(
            "{name} says next to nothing of logprob at the same token (correlation {:.2}): one of them is of other \
             tokens or of other rows",
            found.same
        ),
    };
    let why = vec![
        Proof::new("correlation at the same token", found.same, "above 0.9 for the sampler's"),
        Proof::new("correlation one token aside", aside(found), "below that"),
    ];
    Some(
        Finding::likely(Code::MisalignedLog, 1.0, sentence, why)
            .likely_if(!measures.agreement().is_broken())
            .from_step(measures.first_step()),
    )
}
