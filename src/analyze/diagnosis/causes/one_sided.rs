//! No response is pushed down, or none is pushed up.
//!
//! Statistic: among the groups whose rewards differ and that have an advantage (all groups with an
//! advantage, where rewards are not logged), those without A < 0, and those without A > 0.
//! Threshold: a baseline inside of a group gives both signs to every such group; likely where the lower
//! end of the share without one (Wilson, 99.9 %) is above one half, which takes a dozen groups.

use super::super::patient::{Finding, Patient, found, number, share_bounds};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

const MOST: f64 = 0.5;

fn differs(group: &[ResponseFact]) -> bool {
    group.windows(2).any(|pair| pair[0].reward != pair[1].reward)
}

fn share_without(patient: &Patient<'_>, sign: usize) -> (u64, u64) {
    let rewarded = patient.has(Column::Reward);
    let learns = |group: &&[ResponseFact]| group.iter().any(|f| f.signs[0] || f.signs[1]);
    let (mut without, mut all) = (0, 0);
    let units: Box<dyn Iterator<Item = &[ResponseFact]>> = match patient.has(Column::GroupId) {
        true => Box::new(patient.groups()),
        false => Box::new(patient.signs.facts.responses.chunk_by(|a, b| a.step == b.step)),
    };
    for group in units.filter(learns).filter(|group| !rewarded || differs(group)) {
        all += 1;
        without += u64::from(!group.iter().any(|f| f.signs[sign]));
    }
    (without, all)
}

/// Looks for advantages that are never negative.
pub fn no_negative(patient: &Patient<'_>) -> Finding {
    let (without, all) = share_without(patient, 1);
    if share_bounds(without, all)[0] <= MOST {
        return Finding::Absent;
    }
    found(
        CauseCode::NoNegativeSignal,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        format!("no response is pushed down: {without} of {all} groups with different rewards have no A < 0"),
        "if it is not on purpose (rejection sampling), keep the negative advantages: without them entropy \
         falls and wrong answers are never unlearned",
        vec![number("groups without A < 0", without as f64), number("groups with a signal", all as f64)],
    )
}

/// Looks for advantages that are never positive.
pub fn no_positive(patient: &Patient<'_>) -> Finding {
    let (without, all) = share_without(patient, 0);
    if share_bounds(without, all)[0] <= MOST {
        return Finding::Absent;
    }
    found(
        CauseCode::NoPositiveSignal,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        format!("no response is pushed up: {without} of {all} groups with different rewards have no A > 0"),
        "look at the baseline that is taken off the rewards: pushing down alone drives the policy to noise",
        vec![number("groups without A > 0", without as f64), number("groups with a signal", all as f64)],
    )
}
