//! The run in a few numbers.

use std::collections::BTreeMap;

use super::ratios::{mean, share};
use super::steps::GroupCounts;
use super::thresholds::Thresholds;
use super::verdicts::BatchVerdict;
use crate::collect::Collected;
use crate::collect::tally::{BatchTally, Quantity};
use crate::plan::Plan;
use stapo_framework::s2t::EntropyCut;
use stapo_result::settings::AnalyzeSettings;
use stapo_result::{BatchKind, NormSource, S2tSummary, Totals};

/// Counts and sums of all batches together.
pub fn run_tally(collected: &Collected) -> BatchTally {
    let mut total = BatchTally::new(0);
    collected.batches.iter().for_each(|(_, tally)| total.add_numbers(tally));
    total
}

/// Where norms come from, over the run.
pub fn gradient_source(tally: &BatchTally) -> NormSource {
    let counts = &tally.counts;
    match (counts.weighted, counts.measured_norms, counts.exact_norms) {
        (all, measured, _) if all > 0 && measured == all => NormSource::Measured,
        (all, _, exact) if all > 0 && exact == all => NormSource::Exact,
        (_, 0, 0) => NormSource::Estimated,
        _ => NormSource::Mixed,
    }
}

/// Totals of the run.
pub fn totals(
    collected: &Collected,
    tally: &BatchTally,
    groups: &BTreeMap<i64, GroupCounts>,
    knows_clipping: bool,
) -> Totals {
    let counts = &tally.counts;
    let complete = counts.tokens - counts.missing;
    let group_sum =
        |of: fn(&GroupCounts) -> u64| (!groups.is_empty()).then(|| groups.values().map(of).sum::<u64>());
    let (positive, negative) = (tally.sum(Quantity::PositiveEnergy), tally.sum(Quantity::NegativeEnergy));
    let steps = super::steps::step_ranges(&collected.batches).len();
    Totals {
        tokens: counts.tokens,
        masked_out: counts.masked_out,
        responses: counts.responses,
        groups: group_sum(|g| g.groups),
        zero_advantage_groups: group_sum(|g| g.idle),
        steps: steps as u64,
        batches: collected.batches.len() as u64,
        positive: counts.positive,
        negative: counts.negative,
        zero_advantage: counts.zero,
        missing: counts.missing,
        infeasible: counts.infeasible,
        clipped: knows_clipping.then_some(counts.clipped),
        mean_reward: mean(tally.sum(Quantity::Reward), counts.rewarded),
        mean_length: mean(counts.tokens as f64, counts.responses),
        mean_entropy: mean(tally.sum(Quantity::Entropy), complete),
        mean_prob: mean(tally.sum(Quantity::Probability), complete),
        gradient_energy: positive + negative,
        gradient_energy_low: tally.sum(Quantity::EnergyLow),
        gradient_energy_high: tally.sum(Quantity::EnergyHigh),
        positive_energy: positive,
        gradient_source: gradient_source(tally),
        estimated_norms: counts.weighted - counts.measured_norms - counts.exact_norms,
        mean_norm: mean_norm(tally),
        mean_norm_positive: mean(tally.sum(Quantity::PositiveNorm), counts.weighted_positive),
        max_norm: (counts.weighted > 0).then(|| tally.largest_energy.sqrt()),
    }
}

/// Mean norm of the tokens with w ≠ 0.
pub fn mean_norm(tally: &BatchTally) -> Option<f64> {
    let sum = tally.sum(Quantity::PositiveNorm) + tally.sum(Quantity::NegativeNorm);
    mean(sum, tally.counts.weighted)
}

/// The mask over the run.
pub fn s2t_summary(
    settings: &AnalyzeSettings,
    plan: &Plan,
    totals: &Totals,
    verdict: &BatchVerdict,
    thresholds: &Thresholds,
) -> S2tSummary {
    let silenced_energy = verdict.silenced_energy.value();
    let silenced_norm = mean(verdict.silenced_norm.value(), verdict.silenced_weighted);
    let ratio = |whole: Option<f64>| silenced_norm.zip(whole).and_then(|(norm, whole)| share(norm, whole));
    let (quantile, threshold) = match plan.s2t.entropy {
        EntropyCut::Quantile(q) => (Some(q), None),
        EntropyCut::Absolute(nats) => (None, Some(nats)),
    };
    S2tSummary {
        preset: settings.s2t.preset(),
        tau_p: plan.s2t.tau_p,
        entropy_quantile: quantile,
        entropy_threshold: threshold,
        population: plan.s2t.population,
        per: if plan.by_update { BatchKind::Minibatch } else { BatchKind::Step },
        candidates: verdict.candidates,
        silenced: verdict.silenced,
        exploratory: verdict.exploratory(),
        fraction: mean(verdict.silenced as f64, totals.tokens).unwrap_or(0.0),
        energy_share: share(silenced_energy, totals.gradient_energy),
        positive_energy_share: share(silenced_energy, totals.positive_energy),
        mean_norm_ratio: ratio(totals.mean_norm),
        mean_norm_ratio_positive: ratio(totals.mean_norm_positive),
        exploratory_energy_share: share(verdict.exploratory_energy.value(), totals.gradient_energy),
        median_tau_h: thresholds.median,
    }
}
