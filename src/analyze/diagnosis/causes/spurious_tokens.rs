//! Spurious tokens carry a large part of the energy.
//!
//! Statistic: the energy share of the tokens that S2T silences.
//! Threshold: a tenth is likely, since silencing them then changes every update, as the verdict's own
//! sentence says; a hundredth is possible.

use super::super::patient::{Finding, Patient, found, number, percent};
use crate::analyze::result::{CauseCode, Confidence};

const LIKELY: f64 = 0.1;
const POSSIBLE: f64 = 0.01;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let s2t = &patient.analysis.s2t;
    let share = s2t.energy_share.unwrap_or(0.0);
    if share < POSSIBLE {
        return Finding::Absent;
    }
    let first = patient.analysis.steps.iter().find(|row| row.silenced > 0).map(|row| row.step);
    found(
        CauseCode::SpuriousTokens,
        if share >= LIKELY { Confidence::Likely } else { Confidence::Possible },
        first,
        format!(
            "{} of the tokens, spurious ones, carry {} of the gradient energy",
            percent(s2t.fraction),
            percent(share)
        ),
        "read them in the case list; if they are artefacts, silence them (S2T)",
        vec![number("energy share", share), number("silenced tokens", s2t.silenced as f64)],
    )
}
