//! Responses are cut from the start, or from the step on at which the budget was lowered (`lowered_budget`) or prompts
//! became longer (`longer_prompts`).
//!
//! Statistic: the share of responses that are cut in the first quarter of the steps, before anything was
//! damaged, and the share of the run's energy in cut responses.
//! Threshold: likely where at least a third is cut from the start and they carry most of the energy, or
//! where most are cut (lower end, 99.9 %) in the whole time before anything was damaged, whatever they
//! carry: the budget is too small; possible from a third on in either. Cuts that become fewer are unlearned: only possible where nothing was
//! damaged and the last quarter of the steps, or their later half, has less than half of them (upper end,
//! 99.9 %), or where there are too few steps to unlearn them in: most policies begin so. Cuts that grow later are
//! damage.

use super::shared::bounds::share_bounds;
use super::shared::needs::ENTROPY;
use super::shared::{longer_prompts, lowered_budget};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_base::format::counted;
use stapo_base::stats::sustained::FEWEST_STEPS;
use stapo_result::{CauseCode, Confidence};

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
    if let Some(found) = lowered_budget::examine(patient).or_else(|| longer_prompts::examine(patient)) {
        return found;
    }
    let steps = &patient.analysis.steps;
    let quarter = steps.get(steps.len().div_ceil(4)).or(steps.last()).map_or(i64::MAX, |row| row.step);
    let early = patient.damaged_from().map_or(quarter, |damaged| quarter.min(damaged));
    let (mut cut_early, mut all_early) = (0.0, 0.0);
    let (mut cut_before, mut all_before) = (0, 0);
    // Of the last quarter of the steps, and of their later half.
    let mut late = [[0, 0]; 2];
    let (mut cut, mut energy) = (0.0, 0.0);
    let late_from =
        [4, 2].map(|part| steps.get(steps.len() - steps.len() / part).map_or(i64::MAX, |row| row.step));
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
        for (counts, from) in late.iter_mut().zip(late_from) {
            if let Some(is_cut) = fact.truncated.filter(|_| fact.step >= from) {
                counts[0] += u64::from(is_cut);
                counts[1] += 1;
            }
        }
        energy += fact.energy;
        cut += is_cut * fact.energy;
    }
    let start = cut_early / f64::max(all_early, 1.0);
    let knows_energy = !patient.plan.stand_in.entropy;
    let carried = (knows_energy && energy > 0.0).then(|| cut / energy);
    let mostly_cut = share_bounds(cut_before, all_before)[0] > MOST;
    let often_cut = share_bounds(cut_before, all_before)[0] > MANY;
    if start >= MANY && !often_cut && !knows_energy {
        return Finding::NotChecked(ENTROPY);
    }
    if start < MANY || !often_cut && carried.is_none_or(|carried| carried < MANY) {
        return Finding::Absent;
    }
    let is_less = |[cut, all]: &[u64; 2]| *all > 0 && share_bounds(*cut, *all)[1] < HALF * start;
    // The later half is looked at last, and begins first.
    let is_unlearned = |(late, _): &(&[u64; 2], i64)| patient.damaged_from().is_none() && is_less(late);
    let unlearned = late.iter().zip(late_from).rev().find(is_unlearned);
    let end = unlearned.map(|([cut, all], from)| (*cut as f64 / *all as f64, from));
    let too_few = steps.len() < FEWEST_STEPS;
    let when = match end {
        Some((end, from)) => format!("cut at first, {} from step {from} on", percent(end)),
        None if too_few => {
            let steps = counted(steps.len() as u64, "step does", "steps do");
            format!("cut ({steps} not tell whether that is unlearned)")
        }
        None => "cut from the start".into(),
    };
    let likely =
        (mostly_cut || carried.is_some_and(|carried| carried > MOST)) && unlearned.is_none() && !too_few;
    let mut evidence = vec![number("share of early responses cut", start)];
    evidence.extend(carried.map(|carried| number("energy share of cut responses", carried)));
    let energy = carried
        .map(|carried| match carried == 0.0 {
            true => "; none of them has a gradient".into(),
            false => format!("; cut responses carry {} of the gradient energy", percent(carried)),
        })
        .unwrap_or_default();
    evidence.extend(end.map(|(end, _)| number("share of late responses cut", end)));
    found(
        CauseCode::Truncation,
        if likely { Confidence::Likely } else { Confidence::Possible },
        steps.first().map(|row| row.step),
        format!("{} of the responses are {when}{energy}", percent(start)),
        match carried == Some(0.0) {
            true => "raise the length budget: cut responses have no part in the loss, so they teach nothing",
            false => {
                "raise the length budget, or leave cut responses out of the loss: their reward is that of a response \
                 that never ended"
            }
        },
        evidence,
    )
    .before(end.map(|(_, from)| from))
}
