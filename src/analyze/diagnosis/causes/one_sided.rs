//! No response is pushed down, or none is pushed up.
//!
//! Statistic: among the groups whose rewards differ and that have an advantage (all groups with an
//! advantage, where rewards are not logged), those without A < 0, and those without A > 0.
//! Threshold: a baseline inside of a group gives both signs to every such group; likely where the lower
//! end of the share without one (Wilson, 99.9 %) is above one half, which takes a dozen groups, over the
//! run or from the step on at which the share changed (`lasting`).

use super::super::patient::{Finding, Patient, found, number};
use super::lasting::{Counts, Share};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

const MOST: f64 = 0.5;

fn differs(group: &[ResponseFact]) -> bool {
    group.windows(2).any(|pair| pair[0].reward != pair[1].reward)
}

/// The groups with a signal that lack a sign, where most do.
fn mostly_without(patient: &Patient<'_>, sign: usize) -> Option<Share> {
    let rewarded = patient.has(Column::Reward);
    let learns = |group: &&[ResponseFact]| group.iter().any(|f| f.signs[0] || f.signs[1]);
    let units: Box<dyn Iterator<Item = &[ResponseFact]>> = match patient.has(Column::GroupId) {
        true => Box::new(patient.groups()),
        false => Box::new(patient.signs.facts.responses.chunk_by(|a, b| a.step == b.step)),
    };
    let mut without = Counts::default();
    for group in units.filter(learns).filter(|group| !rewarded || differs(group)) {
        without.add(group[0].step, !group.iter().any(|f| f.signs[sign]));
    }
    without.share(MOST).filter(|share| share.lower() > MOST)
}

/// Looks for advantages that are never negative.
pub fn no_negative(patient: &Patient<'_>) -> Finding {
    let Some(share) = mostly_without(patient, 1) else { return Finding::Absent };
    let Share { hits, tries, from_step, .. } = share;
    found(
        CauseCode::NoNegativeSignal,
        Confidence::Likely,
        Some(from_step),
        format!(
            "no response is pushed down{}: {hits} of {tries} groups with different rewards have no A < 0",
            share.since()
        ),
        "if it is not on purpose (rejection sampling), keep the negative advantages: without them entropy \
         falls and wrong answers are never unlearned",
        vec![number("groups without A < 0", hits as f64), number("groups with a signal", tries as f64)],
    )
}

/// Looks for advantages that are never positive.
pub fn no_positive(patient: &Patient<'_>) -> Finding {
    let Some(share) = mostly_without(patient, 0) else { return Finding::Absent };
    let Share { hits, tries, from_step, .. } = share;
    found(
        CauseCode::NoPositiveSignal,
        Confidence::Likely,
        Some(from_step),
        format!(
            "no response is pushed up{}: {hits} of {tries} groups with different rewards have no A > 0",
            share.since()
        ),
        "look at the baseline that is taken off the rewards: pushing down alone drives the policy to noise",
        vec![number("groups without A > 0", hits as f64), number("groups with a signal", tries as f64)],
    )
}
