//! The sampler leaves out the tail (top-p, top-k).
//!
//! Statistic: y = ln μ − ln π at lag 0. Renormalising what is kept raises every kept token by
//! −ln(mass), so y is never below 0 beyond rounding, and bounded.
//! Threshold: at least 95 % of Σy² above 0 with a mean above 0.002 nats (a mass of 0.998), no y
//! beyond ln 4, and no one temperature that explains the gap.

use super::super::patient::{Finding, Patient, found, number, percent};
use super::gap::{Gap, is_temperature};
use crate::analyze::result::{CauseCode, Confidence};

const BELOW: f64 = 0.05;
const MEAN: f64 = 0.002;
const BOUND: f64 = 1.386_294_361_119_890_6;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let Some(gap) = Gap::fresh(patient) else {
        return Finding::NotChecked("logprob_rollout (the sampler's own log-probabilities)");
    };
    let sums = &gap.all;
    let mean = sums.y / sums.tokens;
    let below = sums.below / sums.yy.max(f64::MIN_POSITIVE);
    if is_temperature(&gap) || mean < MEAN || below > BELOW || sums.largest > BOUND {
        return Finding::Absent;
    }
    found(
        CauseCode::SamplerTruncation,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "the sampler's log-probabilities lie above the trainer's, never below: on average by {mean:.4} \
             nats, as if it kept {} of the mass (estimated)",
            percent((-mean).exp())
        ),
        "sample without top-p and top-k, or score with the same truncation",
        vec![number("mean of ln μ − ln π_old", mean), number("share of squares below 0", below)],
    )
}
