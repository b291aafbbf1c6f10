//! Trainer against inference engine.

use super::columns::Columns;
use super::questions::difference::ResponseDifference;
use super::tally::{BatchTally, Quantity, ResponseSums};
use stapo_framework::fast_math;

/// Differences beyond this (a sentinel, another model) count as this in the divergence.
const LARGEST_DIFFERENCE: f64 = 50.0;

/// Adds the differences of a response's tokens, which `known` adds up.
pub fn add(
    known: &ResponseDifference,
    columns: &Columns<'_>,
    tally: &mut BatchTally,
    sums: &mut ResponseSums,
) {
    if known.max_abs <= LARGEST_DIFFERENCE {
        tally.counts.compared += known.tokens;
        tally.largest_difference = tally.largest_difference.max(known.max_abs);
        sums.add(Quantity::Difference, known.sum);
        sums.add(Quantity::AbsoluteDifference, known.absolute);
        sums.add(Quantity::Divergence, known.k3);
        return;
    }
    let (mut total, mut absolute, mut divergence) = (0.0, 0.0, 0.0);
    for (trainer, rollout) in columns.logprob.iter().zip(columns.logprob_rollout) {
        let difference = f64::from(*trainer) - f64::from(*rollout);
        if !difference.is_finite() {
            continue;
        }
        tally.counts.compared += 1;
        total += difference;
        absolute += difference.abs();
        let bounded = difference.clamp(-LARGEST_DIFFERENCE, LARGEST_DIFFERENCE);
        divergence += fast_math::exp(bounded) - 1.0 - bounded;
        tally.largest_difference = tally.largest_difference.max(difference.abs());
    }
    sums.add(Quantity::Difference, total);
    sums.add(Quantity::AbsoluteDifference, absolute);
    sums.add(Quantity::Divergence, divergence);
}
