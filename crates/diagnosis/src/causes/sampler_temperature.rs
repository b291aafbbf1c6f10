//! The sampler is sharper or flatter than the trainer.
//! Measured: the share of Σd² that ln p + H removes on groups that it was not fitted on, at the training's first step:
//! a temperature scales logits, so ln μ − ln π goes with it (0.76 to 0.92; elsewhere at most 0.45). Or surprisal of
//! sampled tokens against entropy, where the sampler logs values before its temperature (−42 to −49 % at 0.7).
//! Null: a level, a half; and a tenth with z beyond 5 over groups: healthy runs are within 2 %.
//! Misses: another temperature that the trainer divides by as well: then it is none.
//! Looks alike: truncation, where d has one sign.

use crate::measure::{ARITHMETIC, Explanation, Gap};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const EXCESS: f64 = 0.1;
const Z: f64 = 5.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::SamplerTemperature,
    null: Null::Level { bound: 0.5, why: "ln p + H removes at most 0.45 of any other gap" },
    needs: &[Need::Column(Column::Rollout), Need::Column(Column::Entropy)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[Code::EntropyOfAnotherPolicy, Code::TrainerDisagreesWithItself],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let gap = measures.gap()?;
    let is_explained = gap.explanation == Explanation::Temperature;
    let is_off =
        is_off(gap) && !matches!(gap.explanation, Explanation::TrainerNoise | Explanation::Truncation);
    if !is_explained && !is_off {
        return None;
    }
    let why = vec![
        Proof::new("share of the squared gap that ln p + H removes", gap.support_share, "below 0.45"),
        Proof::new("mean surprisal over mean entropy, less 1", gap.excess, "within 0.02 of 0"),
        Proof::new("z of that", gap.excess_z, "within 3 of 0"),
    ];
    let sentence = if is_explained {
        format!(
            "{:.0} % of the gap between trainer and sampler goes with ln p + H, as a temperature makes it",
            100.0 * gap.support_share
        )
    } else {
        format!(
            "what was sampled surprises the trainer by {:+.0} % against its entropy: the sampler is {} than the \
             trainer, and logs probabilities from before its temperature",
            100.0 * gap.excess,
            if gap.excess < 0.0 { "sharper" } else { "flatter" }
        )
    };
    let strength = if is_explained { gap.support_share } else { gap.excess.abs() };
    Some(
        Finding::likely(Code::SamplerTemperature, strength, sentence, why)
            .likely_if(is_off || measures.holds_the_start())
            .from_step(measures.first_step()),
    )
}

/// Surprisal is not entropy. A sampler with other weights draws what surprises the trainer more: upward it counts only
/// where there is no such gap.
fn is_off(gap: &Gap) -> bool {
    let is_clear = gap.excess.abs() > EXCESS && gap.excess_z.abs() > Z;
    is_clear && (gap.excess < 0.0 || gap.first.max(gap.last) < ARITHMETIC)
}
