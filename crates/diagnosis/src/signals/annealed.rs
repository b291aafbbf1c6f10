//! Parts of the reward that are logged with their weight, which is taken back over the run: such a part falls
//! although responses do as before.
//!
//! Statistic: the weight of a step is the one value other than 0 (of either sign) that the part has there, of two
//! responses at least. Threshold: it never rises and takes three values or more; a part that means the same
//! from step to step has one. What is left, the part over its weight, must have no lasting fall (`stats::sustained`):
//! else responses do worse, too.

use std::collections::BTreeMap;

use super::response_series::{MeanAtStep, response_series};
use super::series::Role;
use stapo_base::stats::sustained::Direction;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_result::SignalName;

/// Responses that have a step's weight, to be one.
const CONFIRMED: usize = 2;
/// Weights of a run that are taken back.
const FEWEST: usize = 3;
/// Rounding may lift a weight by this part.
const ROUNDING: f32 = 1e-6;

/// Whether a part falls by its weight alone; `exact` are its means of all responses.
pub fn by_weight_alone(
    facts: &ResponseFacts,
    (part, signal): (usize, &SignalName),
    exact: &[MeanAtStep],
) -> bool {
    let value = |fact: &ResponseFact| fact.parts.get(part).copied().filter(|v| v.is_finite());
    let Some(weights) = weights(facts, value) else { return false };
    let weight = |step: i64| weights.get(&step).map(|weight| f64::from(*weight));
    let of = |fact: &ResponseFact| Some(f64::from(value(fact)?) / weight(fact.step)?);
    let mean = |mean: &MeanAtStep| Some(MeanAtStep { value: mean.value / weight(mean.step)?, ..*mean });
    let means = exact.iter().filter_map(mean).collect();
    let left = response_series(facts, signal.clone(), Role::Goal, &of, means);
    left.is_some_and(|left| left.change(Direction::Down).is_none())
}

/// The weight of each step that has one, where it is taken back.
fn weights(
    facts: &ResponseFacts,
    value: impl Fn(&ResponseFact) -> Option<f32>,
) -> Option<BTreeMap<i64, f32>> {
    let mut weights = BTreeMap::new();
    for step in facts.responses.chunk_by(|a, b| a.step == b.step) {
        let sizes = || step.iter().filter_map(&value).map(f32::abs).filter(|size| *size > 0.0);
        let Some(weight) = sizes().next() else { continue };
        if sizes().any(|size| size != weight) {
            return None;
        }
        if sizes().count() >= CONFIRMED {
            weights.insert(step[0].step, weight);
        }
    }
    let all: Vec<f32> = weights.values().copied().collect();
    let never_rises = all.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + ROUNDING));
    let distinct = all.chunk_by(|a, b| a == b).count();
    (never_rises && distinct >= FEWEST).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 steps of 32 responses with a part of these values.
    fn falls_by_weight(value: impl Fn(i64, u64) -> f32) -> bool {
        let fact = |step: i64, i: u64| ResponseFact {
            step,
            group: i / 4,
            parts: Box::new([value(step, i)]),
            ..ResponseFact::default()
        };
        let responses = (0..30).flat_map(|step| (0..32).map(move |i| fact(step, i))).collect();
        let facts = ResponseFacts { responses, ..ResponseFacts::default() };
        by_weight_alone(&facts, (0, &SignalName::part("format")), &[])
    }

    fn weight(step: i64) -> f32 {
        0.5 * (1.0 - step as f32 / 20.0).max(0.0)
    }

    /// Whether a response has the format: so many of 32 have.
    fn has(count: u64, step: i64, i: u64) -> f32 {
        f32::from(u8::from((7 * i + step as u64) % 32 < count))
    }

    #[test]
    fn a_weight_that_is_taken_back_is_told_from_a_part_that_is_lost() {
        assert!(falls_by_weight(|step, i| weight(step) * has(26, step, i)));
        assert!(falls_by_weight(|step, i| weight(step) * (2.0 * has(26, step, i) - 1.0)));
        // The format is lost, at one weight or while it is taken back.
        assert!(!falls_by_weight(|step, i| 0.5 * has(26 - 26.min(step as u64), step, i)));
        assert!(!falls_by_weight(|step, i| weight(step) * has(26 - 26.min(2 * step as u64), step, i)));
        // Grades.
        assert!(!falls_by_weight(|step, i| weight(step) * (i % 5) as f32));
    }
}
