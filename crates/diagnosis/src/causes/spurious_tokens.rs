//! Spurious tokens carry a large part of the energy.
//!
//! Statistic: the energy share of the tokens that S2T silences.
//! Threshold: a tenth is likely, since silencing them then changes every update, as the verdict's own
//! sentence says, where they have ten times the energy of any token with A > 0, as all of them have: a policy that is
//! unsure everywhere draws improbable tokens all the time, and its mask takes what is no exception; a hundredth is
//! possible, where they have twice that energy: else they are tokens like the others.

use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_result::{CauseCode, Confidence};

const LIKELY: f64 = 0.1;
const POSSIBLE: f64 = 0.01;
/// Energy of a silenced token over that of any token with A > 0.
const OUTSTANDING: f64 = 10.0;
const LARGER: f64 = 2.0;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let s2t = &patient.analysis.s2t;
    let share = s2t.energy_share.unwrap_or(0.0);
    let among = s2t.silenced as f64 / patient.analysis.totals.positive.max(1) as f64;
    let times = s2t.positive_energy_share.map_or(0.0, |share| share / among.max(f64::MIN_POSITIVE));
    if share < POSSIBLE || times < LARGER {
        return Finding::Absent;
    }
    let is_likely = share >= LIKELY && times >= OUTSTANDING;
    let first = patient.analysis.steps.iter().find(|row| row.silenced > 0).map(|row| row.step);
    found(
        CauseCode::SpuriousTokens,
        if is_likely { Confidence::Likely } else { Confidence::Possible },
        first,
        format!(
            "they are {} of all tokens and carry {} of the gradient energy",
            percent(s2t.fraction),
            percent(share)
        ),
        "read them in the case list; if they are artefacts, silence them (S2T)",
        vec![
            number("energy share", share),
            number("silenced tokens", s2t.silenced as f64),
            number("times the energy of a token with A > 0", times),
        ],
    )
}
