//! Most late groups give no signal.
//!
//! Statistic: the share of groups without any advantage in the last third of the steps.
//! Threshold: one half. It is a finding about cost, not a sickness: a run that has learned its
//! prompts ends like this, so it never changes the state of the run.

use super::super::patient::{Finding, Patient, found, number, percent};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence, StepRow};
use crate::ingest::Column;

const MOST: f64 = 0.5;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::GroupId) {
        return Finding::NotChecked("group_id");
    }
    // Where no token is trained, that is why nothing is learned; a group of one is none.
    if patient.analysis.totals.tokens == 0 || !patient.has_siblings() {
        return Finding::Absent;
    }
    let counts = |row: &StepRow| {
        let groups = row.groups.filter(|groups| *groups > 0)?;
        Some((row.step, (row.zero_advantage_groups?, groups)))
    };
    let steps: Vec<(i64, (u64, u64))> = patient.analysis.steps.iter().filter_map(counts).collect();
    let late = &steps[steps.len() - steps.len().div_ceil(3)..];
    let (Some(at_end), Some(all)) = (share(late), share(&steps)) else { return Finding::Absent };
    if at_end <= MOST {
        return Finding::Absent;
    }
    let alive = |step: &(i64, (u64, u64))| share(std::slice::from_ref(step)).is_some_and(|s| s <= MOST);
    let since = steps.iter().rposition(alive).map_or(0, |last| last + 1);
    let from = steps.get(since).or(late.first()).map(|(step, _)| *step);
    found(
        CauseCode::DeadGroups,
        Confidence::Likely,
        from,
        format!(
            "{} of the groups in the last third of the steps give no signal ({} over the run){}",
            percent(at_end),
            percent(all),
            outcome(patient, late.first().map_or(i64::MIN, |(step, _)| *step))
        ),
        "they cost samples and teach nothing: leave out prompts that are solved (or hopeless), draw \
         harder (or easier) ones, or sample until groups are mixed",
        vec![number("share in the last third", at_end), number("share over the run", all)],
    )
}

/// The share of groups that are dead.
fn share(steps: &[(i64, (u64, u64))]) -> Option<f64> {
    let (dead, all) = steps.iter().fold((0, 0), |sum, (_, step)| (sum.0 + step.0, sum.1 + step.1));
    (all > 0).then(|| dead as f64 / all as f64)
}

/// What the rewards of late dead groups are.
fn outcome(patient: &Patient<'_>, from: i64) -> String {
    let known = || patient.signs.facts.responses.iter().map(|f| f.reward).filter(|r| r.is_finite());
    let (low, high) = (known().fold(f32::INFINITY, f32::min), known().fold(f32::NEG_INFINITY, f32::max));
    if low >= high {
        return String::new();
    }
    let dead = |group: &&[ResponseFact]| {
        group[0].step >= from && group.iter().all(|f| f.signs == [false; 2] && f.reward.is_finite())
    };
    let (mut all, mut best, mut worst, mut mixed) = (0_u64, 0_u64, 0_u64, 0_u64);
    for group in patient.groups().filter(dead) {
        let same = |value: f32| group.iter().all(|f| f.reward == value);
        all += 1;
        best += u64::from(same(high));
        worst += u64::from(same(low));
        mixed += u64::from(!same(group[0].reward));
    }
    match all {
        0 => String::new(),
        _ if 2 * mixed > all => "; their rewards differ, but all advantages are 0".into(),
        _ if 2 * best > all => "; most of them have the best reward throughout: solved".into(),
        _ if 2 * worst > all => {
            "; most of them have the lowest reward throughout: every answer is wrong".into()
        }
        _ => "; the answers of a group have the same reward".into(),
    }
}
