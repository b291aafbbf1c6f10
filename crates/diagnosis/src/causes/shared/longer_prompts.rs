//! Responses are cut from the step on at which prompts became longer: harder ones need more than the budget.
//!
//! Statistic: the step at which cuts began to grow for good; the share of responses cut, and the lengths of prompts, before
//! it and from it on, over the run and in the two logged steps beside it.
//! Threshold: a third is cut from there on (lower end, 99.9 %), more than before; prompts are longer in three pairs of four
//! (Cliff's δ of one half, of the step before and the step itself, too: what lengthened slowly is no change of prompts), by
//! chance in 1 of 1,000,000 runs (rank sum).

use super::bounds::share_bounds;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_base::stats::effect::cliffs_delta;
use stapo_base::stats::mann_whitney::rank_sum;
use stapo_base::stats::quantile::select_quantile;
use stapo_base::stats::sustained::Direction;
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, SignalName};

const MANY: f64 = 1.0 / 3.0;
/// Pairs with the later prompt longer, less those with it shorter.
const LONGER: f64 = 0.5;
/// Runs in which chance does it.
const FALSE_ALARMS: f64 = 1e-6;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let grown =
        patient.changes_of(&SignalName::Truncated).find(|change| change.direction == Direction::Up)?;
    let from = grown.onset;
    let last_before = patient.analysis.steps.iter().map(|row| row.step).filter(|step| *step < from).max()?;
    let lengths = |is_there: &dyn Fn(i64) -> bool| -> Vec<f64> {
        let groups = patient.groups().filter(|group| is_there(group[0].step));
        // All siblings have one prompt, which may be logged with one of them.
        groups
            .filter_map(|group| group.iter().map(|f| f.prompt_length).max())
            .filter(|n| *n > 0)
            .map(f64::from)
            .collect()
    };
    let (mut before, mut after) = (lengths(&|step| step < from), lengths(&|step| step >= from));
    let beside = cliffs_delta(&lengths(&|step| step == last_before), &lengths(&|step| step == from))?;
    let is_longer = cliffs_delta(&before, &after)? >= LONGER && beside >= LONGER;
    let cut = |is_there: &dyn Fn(i64) -> bool| {
        let known =
            || patient.signs.facts.responses.iter().filter(|f| f.truncated.is_some() && is_there(f.step));
        let is_cut = |fact: &&ResponseFact| fact.truncated == Some(true);
        [known().filter(is_cut).count() as u64, known().count() as u64]
    };
    let [at_first, at_last] = [cut(&|step| step < from), cut(&|step| step >= from)];
    let [least, most] = [share_bounds(at_last[0], at_last[1])[0], share_bounds(at_first[0], at_first[1])[1]];
    if !is_longer || least < MANY || least <= most || rank_sum(&before, &after) > FALSE_ALARMS {
        return None;
    }
    let share = |[cut, all]: [u64; 2]| cut as f64 / all.max(1) as f64;
    let [short, long] = [select_quantile(&mut before, 0.5)?, select_quantile(&mut after, 0.5)?];
    let unit = if patient.has(Column::PromptIds) { "tokens" } else { "characters" };
    Some(found(
        CauseCode::Truncation,
        Confidence::Likely,
        Some(from),
        format!(
            "from step {from} on, prompts are longer ({long:.0} {unit} in the median, {short:.0} before), and {} of the responses \
             are cut ({} before)",
            percent(share(at_last)),
            percent(share(at_first))
        ),
        "raise the length budget for these prompts, or leave cut responses out of the loss: their reward is that of a \
         response that never ended",
        vec![
            number("median length of prompts before", short),
            number("median length of prompts from there on", long),
            number("share of responses cut before", share(at_first)),
            number("share of responses cut from there on", share(at_last)),
        ],
    ))
}
