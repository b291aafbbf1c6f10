//! Tokens of the environment are trained on.
//!
//! Statistic: the mean of −ln p − H over trained tokens that begin a later turn. For tokens drawn
//! from the policy it is 0, whatever the state; an observation was drawn by nobody. Beside it: trained
//! tokens that the sampler gave no probability for, two or more in a row, in responses that have some.
//! Threshold: likely where the mean's lower end (five standard errors over responses) is above half a
//! nat, or where more than 1 in 1,000 trained tokens have no probability of the sampler's while most do.

use super::super::patient::{Finding, Patient, found, number, percent};
use crate::analyze::collect::signs::probe::Probe;
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

const EXCESS: f64 = 0.5;
const ERRORS: f64 = 5.0;
const FEWEST: usize = 20;
const UNSAMPLED: f64 = 1e-3;
const MOSTLY_SAMPLED: f64 = 0.5;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let probes = &patient.signs.probes;
    let total = |of: fn(&Probe) -> f64| probes.iter().map(of).sum::<f64>();
    let unsampled = total(|p| p.unsampled[1]) / total(|p| p.unsampled[0]).max(1.0);
    let starts: Vec<f64> =
        probes.iter().filter(|p| p.turn_start[0] > 0.0).map(|p| p.turn_start[1] / p.turn_start[0]).collect();
    if starts.len() < FEWEST && !patient.has(Column::LogprobRollout) {
        return Finding::NotChecked("turn, or logprob_rollout");
    }
    let n = starts.len() as f64;
    let mean = starts.iter().sum::<f64>() / n.max(1.0);
    let variance = starts.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    let surprising = starts.len() >= FEWEST && mean - ERRORS * (variance / n).sqrt() > EXCESS;
    let without = unsampled > UNSAMPLED && unsampled < MOSTLY_SAMPLED;
    if !surprising && !without {
        return Finding::Absent;
    }
    let elsewhere = total(|p| p.elsewhere[1]) / total(|p| p.elsewhere[0]).max(1.0);
    let mut said = Vec::new();
    if surprising {
        said.push(format!(
            "the first trained tokens of later turns surprise the policy by {mean:.1} nats beyond its entropy \
             ({elsewhere:.2} elsewhere): it did not write them"
        ));
    }
    if without {
        said.push(format!(
            "{} of the trained tokens have no log-probability of the sampler's, several in a row",
            percent(unsampled)
        ));
    }
    found(
        CauseCode::ObservationTrained,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        said.join("; "),
        "take the environment's tokens (tool results, user turns) out of the training mask",
        vec![
            number("surprisal beyond entropy at the start of turns, nats", mean),
            number("the same elsewhere", elsewhere),
            number("share of trained tokens that were not sampled", unsampled),
        ],
    )
}
