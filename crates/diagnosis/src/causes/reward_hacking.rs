//! The reward rises while a part of it falls.
//!
//! Statistic: lasting changes of the total and of its parts (see `stats::sustained` for their false
//! alarms), and how much of the advantage length explains within groups.
//! Threshold: a part that was damaged while the total rose for good is likely; while the total did
//! neither it is only possible: then something else may have taken the part away. A part with which the total fell, in as
//! many steps from there on as before, five at the most (three standard errors), was not given up for it, nor was one
//! that responses lost by being cut since the budget for length was lowered (`lowered_budget`); what a grader took is dropped in
//! `doubt`. Where updates were likely too
//! large before the part fell, and nothing but the course of the two says that it was given up, that is only possible:
//! a policy that breaks loses the harder part, and may go on to learn the easier one.
//! Without a rise, before any damage or after it, see `paid_for_something_else` and `paid_among_equals`, then `unlogged_term`.
//! Without parts: the reward rose for good while responses were cut or looped, and before that length
//! explained more than half of the advantage: it was paid for. So it was where cut responses have the higher
//! mean advantage in most groups that have cut and finished ones (lower end, 99.9 %). Else it is possible: the
//! reward does not see what happens; not where cuts came with a lower budget or longer prompts. So it is where parts are logged and none of them fell. Possible is, too, that
//! responses became less than half as long, or more than twice, while the reward rose, where being short (long) explains
//! more than a quarter of the advantage (lower end); and a part that fell while what is right rose with the reward: it was given up.

mod paid_among_equals;
mod paid_for_something_else;
mod paid_length;
mod unlogged_term;

use self::paid_among_equals::paid_among_equals;
use self::paid_for_something_else::paid_for_something_else;
use self::paid_length::{HINT, LENGTH_EXPLAINS};
use super::large_updates;
use super::shared::lowered_budget;
use crate::damage::changes::NOTICED;
use crate::damage::same_prompts::quantity;
use crate::evidence::{at_the_end, number};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::within_groups::explained;
use crate::words::percent;
use stapo_base::stats::sustained::{Change, Direction};
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, Damage, Evidence, SignalName};

/// A move of the reward that chance does not make, in standard errors.
const ERRORS: f64 = 3.0;
const HALF: f64 = 0.5;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let needs = Finding::NotChecked("the parts of the reward, as columns reward/<name>");
    if !patient.has(Column::Reward) && !patient.plan.reward_parts.is_empty() {
        return Finding::NotChecked("reward, the whole of it beside its parts");
    }
    if !patient.has(Column::Reward) {
        return needs;
    }
    if patient.plan.reward_parts.is_empty() {
        return paid_length::by_length(patient).or_else(|| paid_length::by_course(patient)).unwrap_or(needs);
    }
    let is_part = |damage: &&Damage| damage.signal.is_part();
    let parts: Vec<&Damage> = patient.changes.damage.iter().filter(is_part).collect();
    let budget = parts.first().and_then(|_| lowered_budget::examine(patient)?.first_step());
    let is_cut_off = |damage: &Damage| budget.is_some_and(|from| is_lost_by_cuts(patient, damage, from));
    let is_alone = |damage: &&Damage| !fell_with(patient, damage.from_step) && !is_cut_off(damage);
    let fallen: Vec<&Damage> = parts.iter().copied().filter(is_alone).collect();
    match (fallen.first(), parts.is_empty()) {
        (Some(first), _) => match given_up(patient, &fallen, first.from_step) {
            likely if likely.is_likely() => likely,
            other => paid(patient).find(Finding::is_likely).unwrap_or(other),
        },
        (None, false) => paid(patient).find(Finding::is_likely).unwrap_or(Finding::Absent),
        (None, true) => {
            let found = match paid(patient).find(|finding| !matches!(finding, Finding::Absent)) {
                Some(likely) if likely.is_likely() => Some(likely),
                other => unlogged_term::examine(patient).or(other),
            };
            let found = found.or_else(|| paid_length::by_length(patient));
            // What is paid for before anything fell shows between siblings alone.
            found.unwrap_or_else(|| patient.nothing_among_siblings())
        }
    }
}

/// What the update may pay for instead of what is right.
fn paid(patient: &Patient<'_>) -> impl Iterator<Item = Finding> {
    [paid_for_something_else, paid_among_equals].into_iter().map(|look| look(patient))
}

/// Parts that fell on their own, the first of them at a step: given up for the total, where that rose.
fn given_up(patient: &Patient<'_>, fallen: &[&Damage], from_step: i64) -> Finding {
    let total_fell =
        patient.changes_of(&SignalName::Reward).any(|change| change.direction == Direction::Down);
    let rise = patient.changes_of(&SignalName::Reward).find(|change| change.direction == Direction::Up);
    if total_fell {
        return Finding::Absent;
    }
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let length = |f: &ResponseFact| f64::from(f.length);
    let by_length = explained(patient.groups(), &advantage, &[&length]).map_or(0.0, |e| e.share);
    let mut evidence: Vec<_> = fallen.iter().map(|d| at_the_end(d.signal.as_str(), d.after)).collect();
    evidence.extend(rise.map(|rise| number("reward before", rise.before)));
    evidence.push(number("share of the advantage that length explains within groups", by_length));
    let named = |d: &&Damage| {
        let word = if d.after < d.before { "fell" } else { "rose" };
        format!("{} {word} {:.2} → {:.2}", d.signal, d.before, d.after)
    };
    let names: Vec<String> = fallen.iter().map(named).collect();
    let because = match by_length {
        share if share > LENGTH_EXPLAINS => {
            format!("; length alone explains {} of the advantage", percent(share))
        }
        _ => String::new(),
    };
    let Some(rise) = rise else {
        let (course, levels) = course_of_reward(patient);
        evidence.extend(levels);
        return found(
            CauseCode::RewardHacking,
            Confidence::Possible,
            Some(from_step),
            format!("{} while {course}{because}", names.join(", ")),
            "look at what the total is made of: a part that is lost should cost reward",
            evidence,
        );
    };
    evidence.push(at_the_end(SignalName::Reward.as_str(), rise.after));
    let (confidence, too, hint) = match right_rose(patient) {
        Some((name, right)) => {
            evidence.push(at_the_end(name.as_str(), right.after));
            let too = format!(" and {name} {:.2} → {:.2}", right.before, right.after);
            (
                Confidence::Possible,
                too,
                "see whether you need what was given up: weigh it more; or leave it out",
            )
        }
        None if broke(patient, from_step) && by_length <= LENGTH_EXPLAINS => {
            (Confidence::Possible, String::new(), HINT)
        }
        None => (Confidence::Likely, String::new(), HINT),
    };
    found(
        CauseCode::RewardHacking,
        confidence,
        Some(from_step.min(rise.onset)),
        format!(
            "the reward rose {:.2} → {:.2}{too} while {}{because}",
            rise.before,
            rise.after,
            names.join(", ")
        ),
        hint,
        evidence,
    )
}

/// Whether updates that were too large came before a step.
fn broke(patient: &Patient<'_>, step: i64) -> bool {
    let updates = large_updates::examine(patient);
    updates.is_likely() && updates.first_step().is_some_and(|first| first <= step)
}

/// Whether the reward fell at a step, however it went before and long after: what fell with it was not given up for it.
fn fell_with(patient: &Patient<'_>, step: i64) -> bool {
    let around = patient.series(&SignalName::Reward).and_then(|series| series.around(step));
    around
        .is_some_and(|[before, after]| before.value - after.value > ERRORS * before.error.hypot(after.error))
}

/// Whether finished responses, if there are any, lost less than half of what a part lost since the budget for length
/// was lowered: cut ones cannot earn it, and nothing was given up.
fn is_lost_by_cuts(patient: &Patient<'_>, damage: &Damage, lowered: i64) -> bool {
    let Some(part) = quantity(&damage.signal, &patient.plan.reward_parts) else { return false };
    let finished = || patient.signs.facts.responses.iter().filter(|fact| fact.truncated == Some(false));
    let mean = |is_before: bool| {
        let there = finished().filter(|fact| (fact.step < lowered) == is_before);
        let [n, sum] = there.filter_map(&part).fold([0.0, 0.0], |[n, sum], value| [n + 1.0, sum + value]);
        sum / n
    };
    let lost = mean(true) - mean(false);
    damage.from_step >= lowered && (lost.is_nan() || lost < HALF * (damage.before - damage.after))
}

/// What is right, apart from the reward, where it rose for good and did nothing else.
fn right_rose(patient: &Patient<'_>) -> Option<(SignalName, Change)> {
    let name = patient.right().filter(|right| right.part.is_some())?.signal();
    let mut changes = patient.changes_of(&name);
    let only = changes.next().filter(|change| change.direction == Direction::Up).copied();
    only.filter(|_| changes.next().is_none()).map(|change| (name.clone(), change))
}

/// How the reward went where neither a fall nor a rise is beyond chance: it stood still only where a noticeable
/// change is out of reach.
fn course_of_reward(patient: &Patient<'_>) -> (String, Vec<Evidence>) {
    let course = patient.series(&SignalName::Reward).and_then(|series| Some((series.ends()?, series.range?)));
    let Some(([began, ended], [.., deviation])) = course else {
        return ("the reward did not rise".into(), Vec::new());
    };
    let levels = vec![
        number("reward over the first quarter of the steps", began.value),
        number("reward over the last quarter of the steps", ended.value),
    ];
    let farthest = (ended.value - began.value).abs() + ERRORS * began.error.hypot(ended.error);
    if farthest < NOTICED * deviation {
        return ("the reward stood still".into(), levels);
    }
    let steps = patient.analysis.steps.len();
    let told = format!("{:.2} → {:.2} (not beyond chance in {steps} steps)", began.value, ended.value);
    (format!("the reward went {told}"), levels)
}
