//! The sampler leaves out the tail (top-k, top-p, min-p) and logs probabilities renormalised over the rest.
//! Measured: mean d over mean d², and the share of Σd² with d > 0, d = ln π_old − ln μ.
//! Null: a level: renormalising lowers d at every token, so the mean is below −1 mean squares (top-k −9.3, top-p −2.4)
//! and less than 5 % of the squares are positive; noise has as much on either side.
//! Misses: a sampler that cuts and logs what the whole distribution had.
//! Looks alike: a lower temperature, which raises d for what is rare.

use crate::measure::Explanation;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::SamplerTruncation,
    null: Null::Level { bound: -1.0, why: "noise of any size has a mean of half its mean square at most" },
    needs: &[Need::Column(Column::Rollout)],
    symptoms: &[Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap().filter(|gap| gap.explanation == Explanation::Truncation)?;
    let why = vec![
        Proof::new("mean gap over mean square", gap.lean, "−0.5 to 0.5"),
        Proof::new("share of the squares where the trainer is above", gap.positive, "about 0.5"),
    ];
    let sentence = format!(
        "the sampler is above the trainer at nearly every token ({:.0} % of the squared gap): it leaves out the tail \
         and renormalises",
        100.0 * (1.0 - gap.positive)
    );
    Some(
        Finding::likely(Code::SamplerTruncation, 1.0 - gap.positive, sentence, why)
            .from_step(measures.first_step()),
    )
}
