//! p and H are not of one distribution.
//!
//! Statistic: the share of tokens whose p and H no distribution has, and the correlation of surprisal
//! with entropy.
//! Threshold: 1 % beyond the tolerance for rounding (0.02 nats), or a correlation below 0.1 where H
//! varies: the same that `check` fails on. Columns that are merely shifted are another cause.

use super::super::patient::{Finding, Patient, found, number, percent};
use super::misaligned_log;
use crate::analyze::result::{CauseCode, Confidence};

const INFEASIBLE: f64 = 0.01;
const UNRELATED: f64 = 0.1;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let totals = &patient.analysis.totals;
    let share = totals.infeasible as f64 / (totals.tokens - totals.missing).max(1) as f64;
    let related = misaligned_log::at_shifts(&patient.signs.probes, |probe| &probe.entropy_shift);
    let unrelated = related.is_some_and(|[_, same, _]| same < UNRELATED);
    let shifted = matches!(misaligned_log::examine(patient), Finding::Found(_));
    if shifted || !(share > INFEASIBLE || unrelated) {
        return Finding::Absent;
    }
    let mut evidence = vec![number("share of tokens", share)];
    evidence.extend(related.map(|[_, same, _]| number("correlation of surprisal and entropy", same)));
    let message = if share > INFEASIBLE {
        format!("{} of the tokens have a p and an H that no distribution has", percent(share))
    } else {
        "entropy tells nothing of how surprising a token is: it is of another policy, or of other tokens"
            .into()
    };
    found(
        CauseCode::EntropyOfAnotherPolicy,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        message,
        "log both from the same policy, temperature and precision; entropies in bits need --entropy-unit bits",
        evidence,
    )
}
