//! Responses are cut from the start.
//!
//! Statistic: the share of responses that are cut in the first quarter of the steps, before anything was
//! damaged, and the share of the run's energy in cut responses.
//! Threshold: likely where at least a third is cut from the start and they carry most of the energy, or
//! where most are cut (lower end, 99.9 %) in the whole time before anything was damaged, whatever they
//! carry: the budget is too small. Cuts that become fewer are unlearned: only possible where nothing was
//! damaged and the last quarter of the steps has less than half of them (upper end, 99.9 %). Cuts that grow
//! later are damage.

use super::super::patient::{Finding, Patient, found, number, percent, share_bounds};
use crate::analyze::result::{CauseCode, Confidence};

const MANY: f64 = 1.0 / 3.0;
const MOST: f64 = 0.5;
/// Cuts below this part of those at first were unlearned.
const HALF: f64 = 0.5;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let facts = &patient.signs.facts.responses;
    if !facts.iter().any(|f| f.truncated.is_some()) {
        return Finding::NotChecked("truncated, or finish_reason");
    }
    let steps = &patient.analysis.steps;
    let quarter = steps.get(steps.len().div_ceil(4)).or(steps.last()).map_or(i64::MAX, |row| row.step);
    let early = patient.damaged_from().map_or(quarter, |damaged| quarter.min(damaged));
    let (mut cut_early, mut all_early) = (0.0, 0.0);
    let (mut cut_before, mut all_before) = (0, 0);
    let (mut cut_late, mut all_late) = (0, 0);
    let (mut cut, mut energy) = (0.0, 0.0);
    let late = steps.get(steps.len() - steps.len() / 4).map_or(i64::MAX, |row| row.step);
    for fact in facts {
        let is_cut = f64::from(u8::from(fact.truncated == Some(true)));
        if fact.step < early || steps.len() == 1 {
            all_early += 1.0;
            cut_early += is_cut;
        }
        if fact.truncated.is_some() && patient.damaged_from().is_none_or(|damaged| fact.step < damaged) {
            all_before += 1;
            cut_before += u64::from(fact.truncated == Some(true));
        }
        if fact.truncated.is_some() && fact.step >= late {
            all_late += 1;
            cut_late += u64::from(fact.truncated == Some(true));
        }
        energy += fact.energy;
        cut += is_cut * fact.energy;
    }
    let (start, carried) = (cut_early / f64::max(all_early, 1.0), cut / f64::max(energy, f64::MIN_POSITIVE));
    let mostly_cut = share_bounds(cut_before, all_before)[0] > MOST;
    if start < MANY || carried < MANY && !mostly_cut {
        return Finding::Absent;
    }
    let unlearned = all_late > 0
        && patient.damaged_from().is_none()
        && share_bounds(cut_late, all_late)[1] < HALF * start;
    let end = cut_late as f64 / f64::max(all_late as f64, 1.0);
    let when = match unlearned {
        true => format!("cut at first, {} at the end", percent(end)),
        false => "cut from the start".into(),
    };
    let likely = (carried > MOST || mostly_cut) && !unlearned;
    let mut evidence =
        vec![number("share of early responses cut", start), number("energy share of cut responses", carried)];
    if unlearned {
        evidence.push(number("share of late responses cut", end));
    }
    found(
        CauseCode::Truncation,
        if likely { Confidence::Likely } else { Confidence::Possible },
        steps.first().map(|row| row.step),
        format!(
            "{} of the responses are {when}; cut responses carry {} of the gradient energy",
            percent(start),
            percent(carried)
        ),
        "raise the length budget, or leave cut responses out of the loss: their reward is that of a \
         response that never ended",
        evidence,
    )
}
