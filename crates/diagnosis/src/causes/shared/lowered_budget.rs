//! Responses are cut at a length from a step on that many were longer than before.
//!
//! Statistic: groups with a response longer than any of the last quarter of the steps, before the step from which on none
//! is; and the share of responses that are cut before it and from it on.
//! Threshold: if a group had a longer response with the share before (lower end, 99.9 %), none would from there on in
//! 1 of 1,000,000 runs, the number of steps paid for; more are cut than before (the ends of both shares, 99.9 %), and
//! half of these or more at that very length: lengths that were learned end at many. Likely where a third is cut (lower
//! end), else possible. The same of the longest turn of each response: a budget may be that of a turn, and what is cut goes on.

use super::bounds::share_bounds;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_base::stats::sustained::FEWEST_STEPS;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const MANY: f64 = 1.0 / 3.0;
/// Runs in which chance does it.
const FALSE_ALARMS: f64 = 1e-6;

/// What a budget is for.
struct Budgeted {
    name: &'static str,
    tokens: fn(&ResponseFact) -> u32,
}

const RESPONSES: Budgeted = Budgeted { name: "response", tokens: |fact| fact.length };
const TURNS: Budgeted = Budgeted { name: "turn", tokens: |fact| fact.longest_turn };

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let facts = &patient.signs.facts.responses;
    let has_turns = facts.iter().any(|fact| fact.longest_turn < fact.length);
    lowered(patient, &RESPONSES).or_else(|| if has_turns { lowered(patient, &TURNS) } else { None })
}

fn lowered(patient: &Patient<'_>, Budgeted { name, tokens }: &Budgeted) -> Option<Finding> {
    let facts = &patient.signs.facts.responses;
    let steps = &patient.analysis.steps;
    if steps.len() < FEWEST_STEPS {
        return None;
    }
    let late = steps[steps.len() - steps.len() / 4].step;
    let budget = facts.iter().filter(|fact| fact.step >= late).map(tokens).max()?;
    let longest = facts.iter().filter(|fact| tokens(fact) > budget).map(|fact| fact.step).max()?;
    let from = steps.iter().map(|row| row.step).find(|step| *step > longest)?;
    let is_longer = |group: &&[ResponseFact]| group.iter().any(|fact| tokens(fact) > budget);
    let before = || patient.groups().filter(|group| group[0].step < from);
    let (longer, groups) = (before().filter(is_longer).count() as u64, before().count() as u64);
    let later = patient.groups().filter(|group| group[0].step >= from).count();
    let by_chance = later as f64 * (1.0 - share_bounds(longer, groups)[0]).ln() + (steps.len() as f64).ln();
    let cut = |is_there: &dyn Fn(&ResponseFact) -> bool| {
        let known = || facts.iter().filter(|fact| fact.truncated.is_some() && is_there(fact));
        [known().filter(|fact| fact.truncated == Some(true)).count() as u64, known().count() as u64]
    };
    let [at_first, at_last] = [cut(&|fact| fact.step < from), cut(&|fact| fact.step >= from)];
    let [_, most] = share_bounds(at_first[0], at_first[1]);
    let [least, _] = share_bounds(at_last[0], at_last[1]);
    let [there, _] = cut(&|fact| fact.step >= from && tokens(fact) == budget && fact.truncated == Some(true));
    if by_chance > FALSE_ALARMS.ln() || least <= most || 2 * there < at_last[0] {
        return None;
    }
    let share = |[cut, all]: [u64; 2]| cut as f64 / all.max(1) as f64;
    Some(found(
        CauseCode::Truncation,
        if least >= MANY { Confidence::Likely } else { Confidence::Possible },
        Some(from),
        format!(
            "from step {from} on, no {name} is longer than {budget} tokens, as some were in {} of the groups before, and {} \
             of the responses are cut ({} before)",
            percent(longer as f64 / groups.max(1) as f64),
            percent(share(at_last)),
            percent(share(at_first))
        ),
        "see whether the length budget was lowered there (the sampler's limit, or prompts that leave less of the \
         context): raise it, or leave cut responses out of the loss",
        vec![
            number(&format!("longest {name} from there on"), f64::from(budget)),
            number("share of groups with a longer one before", longer as f64 / groups.max(1) as f64),
            number("share of responses cut before", share(at_first)),
            number("share of responses cut from there on", share(at_last)),
        ],
    ))
}
