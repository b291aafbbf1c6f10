//! One row a step.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;

use super::classes::ClassTable;
use super::drivers::spread;
use super::quantiles::entropy_quantiles;
use super::ratios::{mean, share};
use super::thresholds::Thresholds;
use super::verdicts::BatchVerdict;
use crate::collect::Collected;
use crate::collect::groups::{GroupTable, GroupsOfStep};
use crate::collect::signs::rounding::Rounding;
use crate::collect::tally::{BatchKey, BatchTally, Quantity};
use crate::plan::Plan;
use stapo_result::{Answers, BatchThreshold, Mismatch, StepChange, StepRow};

/// The mean entropy change that was predicted and measured.
pub fn change_of(tally: &BatchTally) -> StepChange {
    let counts = &tally.counts;
    let complete = counts.tokens - counts.missing;
    let lemma = mean(tally.sum(Quantity::Advantage), complete)
        .map(|mean_advantage| mean_advantage * tally.sum(Quantity::Own) - tally.sum(Quantity::OwnAdvantage));
    let moves = counts.weighted > 0;
    StepChange {
        predicted_low: mean(tally.sum(Quantity::ChangeLow), complete).filter(|_| moves),
        predicted_high: mean(tally.sum(Quantity::ChangeHigh), complete).filter(|_| moves),
        lemma: lemma.and_then(|sum| mean(sum, complete)).filter(|_| moves),
        measured: mean(tally.sum(Quantity::MeasuredChange), counts.measured_changes),
    }
}

/// The groups of every step.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupCounts {
    /// Groups.
    pub groups: u64,
    /// Groups in which no token has an advantage.
    pub idle: u64,
}

/// Counts groups by step; empty where groups are not logged.
pub fn groups_by_step(groups: &GroupTable, rounding: Rounding) -> BTreeMap<i64, GroupCounts> {
    let of_step = |(step, groups): (i64, &GroupsOfStep)| {
        let mut tally = GroupCounts::default();
        for (_, group) in groups.by_id() {
            tally.groups += 1;
            tally.idle += u64::from(!group.learns(rounding));
        }
        (tally.groups > 0).then_some((step, tally))
    };
    groups.by_step().filter_map(of_step).collect()
}

/// The batches of each step.
pub fn step_ranges(batches: &[(BatchKey, BatchTally)]) -> Vec<Range<usize>> {
    let mut start = 0;
    let steps = batches.chunk_by(|(a, _), (b, _)| a.step == b.step);
    steps
        .map(|chunk| {
            start += chunk.len();
            start - chunk.len()..start
        })
        .collect()
}

fn tally_of(batches: &[(BatchKey, BatchTally)]) -> Cow<'_, BatchTally> {
    match batches {
        [(_, only)] => Cow::Borrowed(only),
        _ => {
            let mut merged = BatchTally::new(0);
            batches.iter().for_each(|(_, tally)| merged.merge(tally.clone()));
            Cow::Owned(merged)
        }
    }
}

/// Everything the rows of the step table are made of.
pub struct StepSources<'a> {
    /// What was collected.
    pub collected: &'a Collected,
    /// Resolved settings.
    pub plan: &'a Plan,
    /// τ_h of the batches.
    pub thresholds: &'a Thresholds,
    /// Verdicts by batch.
    pub verdicts: &'a [BatchVerdict],
    /// Classes by batch.
    pub classes: &'a [ClassTable],
    /// Groups by step; empty where not logged.
    pub groups: &'a BTreeMap<i64, GroupCounts>,
    /// Whether clipping is known.
    pub knows_clipping: bool,
    /// Differences between the policies, by step.
    pub answers: &'a Answers,
}

/// The rows of all steps, ascending.
pub fn step_rows(sources: &StepSources<'_>) -> Vec<StepRow> {
    step_ranges(&sources.collected.batches).into_par_iter().map(|range| row(sources, range)).collect()
}

fn row(sources: &StepSources<'_>, range: Range<usize>) -> StepRow {
    let groups = sources.groups;
    let batches = &sources.collected.batches[range.clone()];
    let step = batches[0].0.step;
    let tally = tally_of(batches);
    let signs = sources.collected.signs.of_step(step);
    let counts = &tally.counts;
    let complete = counts.tokens - counts.missing;
    let mut verdict = BatchVerdict::default();
    sources.verdicts[range.clone()].iter().for_each(|batch| verdict.merge(batch));
    let mut classes = ClassTable::default();
    sources.classes[range.clone()].iter().for_each(|batch| classes.merge(batch));
    let energy = tally.sum(Quantity::PositiveEnergy) + tally.sum(Quantity::NegativeEnergy);
    let group = (!groups.is_empty()).then(|| groups.get(&step).copied().unwrap_or_default());
    let mean_reward = mean(tally.sum(Quantity::Reward), counts.rewarded);
    let reward_variance = mean(tally.sum(Quantity::RewardSquare), counts.rewarded)
        .zip(mean_reward)
        .map(|(square, mean)| (square - mean * mean).max(0.0));
    StepRow {
        step,
        tokens: counts.tokens,
        responses: counts.responses,
        groups: group.map(|g| g.groups),
        zero_advantage_groups: group.map(|g| g.idle),
        mean_reward,
        reward_std: reward_variance.map(f64::sqrt),
        mean_length: mean(counts.tokens as f64, counts.responses),
        mean_entropy: mean(tally.sum(Quantity::Entropy), complete),
        entropy_quantiles: match batches {
            [_] => sources.thresholds.quantiles[range.start],
            _ => entropy_quantiles(&tally, sources.collected.sortable),
        },
        mean_prob: mean(tally.sum(Quantity::Probability), complete),
        positive: counts.positive,
        negative: counts.negative,
        zero_advantage: counts.zero,
        missing: counts.missing,
        infeasible: counts.infeasible,
        gradient_energy: energy,
        gradient_energy_low: tally.sum(Quantity::EnergyLow),
        gradient_energy_high: tally.sum(Quantity::EnergyHigh),
        positive_energy: tally.sum(Quantity::PositiveEnergy),
        max_norm: (counts.weighted > 0).then(|| tally.largest_energy.sqrt()),
        candidates: verdict.candidates,
        tau_h: if batches.len() == 1 { sources.thresholds.tau_h[range.start] } else { None },
        minibatches: minibatches(sources, range),
        silenced: verdict.silenced,
        exploratory: verdict.exploratory(),
        silenced_ratio: mean(verdict.silenced as f64, counts.tokens).unwrap_or(0.0),
        spurious_energy_share: share(verdict.silenced_energy.value(), energy),
        exploratory_energy_share: share(verdict.exploratory_energy.value(), energy),
        class_tokens: classes.classes.map(|class| class.tokens),
        class_energy_shares: classes.classes.map(|class| share(class.energy, energy).unwrap_or(0.0)),
        clipped_share: mean(counts.clipped as f64, counts.tokens).filter(|_| sources.knows_clipping),
        entropy_change: change_of(&tally),
        mismatch: mismatch(&tally),
        concentration: signs
            .map(|s| spread(&s.concentration, sources.collected.signs.kept_all))
            .unwrap_or_default(),
        update_k3: update_k3(sources.answers, step),
        largest_ratio: signs.map(|s| s.largest_ratio).filter(|ratio| *ratio > 0.0),
        reference_k3: reference_k3(sources.answers, step),
    }
}

fn update_k3(answers: &Answers, step: i64) -> Option<f64> {
    let steps = &answers.offpolicy.as_ref()?.steps;
    let at = steps.binary_search_by_key(&step, |row| row.step).ok()?;
    Some(steps[at].differences.update.as_ref()?.k3)
}

fn reference_k3(answers: &Answers, step: i64) -> Option<f64> {
    let steps = &answers.kl_reference.as_ref()?.steps;
    let at = steps.binary_search_by_key(&step, |row| row.step).ok()?;
    Some(steps[at].k3)
}

fn minibatches(sources: &StepSources<'_>, range: Range<usize>) -> Vec<BatchThreshold> {
    if !sources.plan.by_update {
        return Vec::new();
    }
    range
        .map(|number| {
            let (key, tally) = &sources.collected.batches[number];
            let verdict = &sources.verdicts[number];
            BatchThreshold {
                update: key.update,
                tokens: tally.counts.tokens,
                tau_h: sources.thresholds.tau_h[number],
                candidates: verdict.candidates,
                silenced: verdict.silenced,
            }
        })
        .collect()
}

fn mismatch(tally: &BatchTally) -> Option<Mismatch> {
    let tokens = tally.counts.compared;
    Some(Mismatch {
        tokens,
        mean_difference: mean(tally.sum(Quantity::Difference), tokens)?,
        mean_absolute_difference: mean(tally.sum(Quantity::AbsoluteDifference), tokens)?,
        kl: mean(tally.sum(Quantity::Divergence), tokens)?,
        max_absolute_difference: tally.largest_difference,
    })
}
