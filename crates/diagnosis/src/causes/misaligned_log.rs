//! Columns are shifted against each other.
//!
//! Statistic: the correlation of surprisal with entropy, and of the trainer's with the sampler's
//! surprisal, at the same token and at its neighbours.
//! Threshold: a neighbour that correlates better than the token itself by more than 0.1, which is far
//! beyond the error of a correlation over the thousands of tokens that are asked for. Or a correlation of the two
//! surprisals below 0.25 at the same token while both vary: old weights and other temperatures leave far more of it, values
//! of other tokens or rows next to none.

use super::shared::shifts::{Shifts, correlation, moments};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use stapo_collect::collect::signs::probe::Probe;
use stapo_result::{CauseCode, Confidence};

const BETTER: f64 = 0.1;
/// Surprisals of one token under two policies that correlate less than this are not of one token, …
const UNRELATED: f64 = 0.25;
/// … where the sampler's vary by this part of the trainer's: one that takes the most likely token is always certain.
const VARIES: f64 = 0.1;

/// The correlations at −1, 0 and +1.
fn at_shifts(probes: &[Probe], of: Shifts) -> Option<[f64; 3]> {
    let [before, same, after] = moments(probes, of).map(correlation);
    Some([before?, same?, after?])
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let pairs: [(&str, Shifts); 2] = [
        ("entropy", |probe| &probe.entropy_shift),
        ("the sampler's log-probability", |probe| &probe.logprob_shift),
    ];
    for (what, of) in pairs {
        let Some([before, same, after]) = at_shifts(&patient.signs.probes, of) else { continue };
        let best = before.max(after);
        if best > same + BETTER {
            let where_to = if before > after { "before" } else { "after" };
            return found(
                CauseCode::MisalignedLog,
                Confidence::Likely,
                patient.analysis.steps.first().map(|row| row.step),
                format!(
                    "{what} fits the log-probability of the token {where_to} it better ({best:.2} against \
                     {same:.2}): columns are shifted by one"
                ),
                "shift one of them where it is logged, or say how they lie with --align",
                vec![number("correlation at the same token", same), number("one token aside", best)],
            );
        }
    }
    match unrelated(&patient.signs.probes) {
        None => Finding::Absent,
        Some(same) => found(
            CauseCode::MisalignedLog,
            Confidence::Likely,
            patient.analysis.steps.first().map(|row| row.step),
            format!(
                "the sampler's log-probability says next to nothing of the trainer's of the same token (correlation \
                 {same:.2}): one of them is of other tokens or of other rows"
            ),
            "hold the ids that both were computed for side by side where the log is written: rows that were put into \
             another order, values that are shifted by some tokens",
            vec![number("correlation at the same token", same)],
        ),
    }
}

/// The correlation of the trainer's with the sampler's surprisal of the same token, where these are not of one token.
fn unrelated(probes: &[Probe]) -> Option<f64> {
    let same @ [n, x, y, xx, yy, _] = moments(probes, |probe| &probe.logprob_shift)[1];
    let (vx, vy) = (xx - x * x / n, yy - y * y / n);
    correlation(same).filter(|r| *r < UNRELATED && vx.min(vy) > VARIES * vx.max(vy))
}

/// Whether the sampler's log-probabilities are of other tokens than the trainer's: then nothing else can be told from them.
pub fn is_of_other_tokens(probes: &[Probe]) -> bool {
    let shifted = || at_shifts(probes, |probe| &probe.logprob_shift);
    unrelated(probes).is_some()
        || shifted().is_some_and(|[before, same, after]| before.max(after) > same + BETTER)
}
