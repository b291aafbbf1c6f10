//! The sampler leaves out the tail (top-p, top-k).
//!
//! Statistic: y = ln μ − ln π at lag 0. Renormalising what is kept raises every kept token by
//! −ln(mass), so y is never below 0 beyond rounding, and above ln 10 only where less than a tenth is kept.
//! Threshold: at least 95 % of Σy² above 0, a tenth of it below ln 10, with a mean above 0.002 nats (a mass of 0.998); and what
//! is below 0 is so by rounding (Σy²/Σ|y| up to 0.2 nats there): other weights have few tokens far below, too. Or the mean is
//! five times half the mean of y²: where all of π's tokens are in reach it is a divergence, which is about that half. A sharper
//! sampler has half of Σy² and more below 0; a flatter one is told by the temperature that explains it, and only
//! possible where no entropies are logged.

use super::shared::gap::{COPIED, Gap};
use super::shared::needs::SAMPLER;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_base::format::counted;
use stapo_result::{CauseCode, Confidence};

/// Looks for it.
pub fn examine(patient: &Patient<'_>, gap: Option<&Gap>) -> Finding {
    let Some(gap) = gap else { return Finding::NotChecked(SAMPLER) };
    if gap.is_copied() {
        return Finding::NotChecked(COPIED);
    }
    if !gap.is_truncation() {
        return Finding::Absent;
    }
    let mean = gap.mean();
    // A flatter sampler may lie above throughout, too: entropies tell. So may old weights, far above where they
    // drew what the trainer has unlearned since, and a little below elsewhere.
    let age = gap.lag.filter(|lag| *lag > 0);
    let (confidence, or) = match (patient.plan.stand_in.entropy, age) {
        (true, _) => (Confidence::Possible, ", or a higher temperature (entropy would tell)".to_owned()),
        (false, Some(age)) => (
            Confidence::Possible,
            format!(", or weights that are up to {} old", counted(age.unsigned_abs(), "step", "steps")),
        ),
        (false, None) => (Confidence::Likely, String::new()),
    };
    let side = gap.side.told();
    let above = match age {
        Some(_) => format!("lie farther above the trainer's than below{side}"),
        None if gap.is_never_below() => format!("lie above the trainer's{side}, never below"),
        None => {
            format!("lie above the trainer's{side} by more than rounding and other weights would raise them")
        }
    };
    found(
        CauseCode::SamplerTruncation,
        confidence,
        gap.from_step,
        format!(
            "the sampler's log-probabilities {above}: on average by {mean:.4} nats, as if it kept {} of the \
             mass (estimated){or}",
            percent((-mean).exp())
        ),
        "sample without top-p and top-k, or score with the same truncation; look at the temperature, too: \
         generation_config.json sets all three together",
        vec![number("mean of ln μ − ln π_old", mean), number("share of squares below 0", gap.share_below())],
    )
    .before(gap.side.end())
}
