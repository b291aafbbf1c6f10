//! Most late groups give no signal.
//!
//! Statistic: the share of groups without any advantage in the last third of the steps.
//! Threshold: one half. It is a finding about cost, not a sickness: a run that has learned its
//! prompts ends like this, so it never changes the state of the run.

use super::shared::siblings::rewards_differ;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::copies::is_unique;
use crate::words::percent;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, StepRow};

const MOST: f64 = 0.5;

const HINT: &str = "they cost samples and teach nothing: leave out prompts that are solved (or hopeless), draw \
                    harder (or easier) ones, or sample until groups are mixed";
/// Where rewards differ.
const ZEROED: &str = "look at how advantages are made of rewards: a filter, a mask or a division sets them to 0; other \
                      prompts would not help";
/// Where what is right says otherwise than the reward.
const UNPAID: &str = "read some of these answers with their rewards: the grader may have failed (a parser, a sandbox, a \
                      judge), and other prompts would not help";

/// Where all responses of a group are one.
const COPIED: &str = "look at the sampler's seed and temperature, and whether rows were written more than once: a group of \
                      copies is one answer, and other prompts would not help";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.knows_groups() {
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
    let Outcome { told, hint } = outcome(patient, late.first().map_or(i64::MIN, |(step, _)| *step));
    found(
        CauseCode::DeadGroups,
        Confidence::Likely,
        from,
        format!("{}{told}", said(at_end, all, steps.len())),
        hint,
        vec![number("share in the last third", at_end), number("share over the run", all)],
    )
}

/// How many are dead, late and over the run; of one step there is no late part.
fn said(at_end: f64, all: f64, steps: usize) -> String {
    match steps {
        1 => format!("{} of the groups give no signal", percent(all)),
        _ => format!(
            "{} of the groups in the last third of the steps give no signal ({} over the run)",
            percent(at_end),
            percent(all)
        ),
    }
}

/// The share of groups that are dead.
fn share(steps: &[(i64, (u64, u64))]) -> Option<f64> {
    let (dead, all) = steps.iter().fold((0, 0), |sum, (_, step)| (sum.0 + step.0, sum.1 + step.1));
    (all > 0).then(|| dead as f64 / all as f64)
}

/// What the rewards of late dead groups are, and what to do then.
struct Outcome {
    told: String,
    hint: &'static str,
}

fn outcome(patient: &Patient<'_>, from: i64) -> Outcome {
    let told = |told: &str| Outcome { told: told.into(), hint: HINT };
    let late = || patient.groups().filter(move |group| group[0].step >= from && !learns(group));
    let copied = late().filter(|group| are_copies(group)).count();
    if 2 * copied > late().count() {
        let of = "; in most of them all responses are the same, token by token, which chance does not give";
        return Outcome { told: of.into(), hint: COPIED };
    }
    let known = || patient.signs.facts.responses.iter().map(|f| f.reward).filter(|r| r.is_finite());
    let (low, high) = (known().fold(f32::INFINITY, f32::min), known().fold(f32::NEG_INFINITY, f32::max));
    if low >= high {
        return told("");
    }
    let groups: Vec<&[ResponseFact]> =
        late().filter(|group| group.iter().all(|f| f.reward.is_finite())).collect();
    let have = |value: f32| groups.iter().filter(move |group| group.iter().all(|f| f.reward == value));
    let mixed = groups.iter().filter(|group| rewards_differ(group)).count();
    let are_most = |count: usize| 2 * count > groups.len();
    let right = patient.right();
    let against = |value: f32| right?.against(have(value).copied().flatten(), value == high);
    let unpaid = |level: &str, against: String| Outcome {
        told: format!("; most of them have the {level} reward throughout{against}"),
        hint: UNPAID,
    };
    match groups.len() {
        0 => told(""),
        _ if are_most(mixed) => {
            Outcome { told: "; their rewards differ, but all advantages are 0".into(), hint: ZEROED }
        }
        _ if are_most(have(high).count()) => match against(high) {
            Some(against) => unpaid("best", against),
            None => told("; most of them have the best reward throughout: solved"),
        },
        _ if are_most(have(low).count()) => match against(low) {
            Some(against) => unpaid("lowest", against),
            None if right.is_some_and(|right| right.is_sure()) => {
                told("; most of them have the lowest reward throughout: every answer is wrong")
            }
            None => told("; most of them have the lowest reward throughout"),
        },
        _ => told("; the answers of a group have the same reward"),
    }
}

fn learns(group: &[ResponseFact]) -> bool {
    group.iter().any(|fact| fact.signs != [false; 2])
}

/// Whether all responses of a group are one that is too improbable to be drawn twice.
fn are_copies(group: &[ResponseFact]) -> bool {
    group.len() > 1 && group.iter().all(|fact| fact.text == group[0].text && is_unique(fact))
}
