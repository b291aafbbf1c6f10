//! Whether the reward was redefined: its values, not their frequencies, change from a step on.

use super::range::{Distribution, round};
use std::collections::BTreeSet;

/// Most values that a reward is known by.
const FEW: usize = 32;
/// Steps and responses that have to be known before.
const STEPS: usize = 3;
const RESPONSES: u64 = 100;
/// New values that have to come at once.
const NEW: u64 = 8;

/// Index of the first step where a third of the values above the old floor was never seen before, in a reward of few
/// values. New values below the old floor may be a malus that damage brings. `steps` are all steps of the run.
pub fn redefined(steps: &[Distribution]) -> Option<usize> {
    let mut seen: BTreeSet<Value> = BTreeSet::new();
    let mut responses = 0;
    for (at, values) in steps.iter().enumerate() {
        let rounded = || values.iter().map(|(value, count)| (Value(round(value, 1e5)), count));
        if at >= STEPS && responses >= RESPONSES && seen.len() <= FEW {
            let floor = seen.first().map_or(f64::INFINITY, |value| value.0) + 1e-6;
            let (mut above, mut new) = (0, 0);
            for (value, count) in rounded().filter(|(value, _)| value.0 > floor) {
                above += count;
                new += if seen.contains(&value) { 0 } else { count };
            }
            if new as f64 > 0.33 * above as f64 && new >= NEW {
                return Some(at);
            }
        }
        if seen.len() > FEW {
            return None;
        }
        seen.extend(rounded().map(|(value, _)| value));
        responses += values.count();
    }
    None
}

/// A finite number, in order.
#[derive(Clone, Copy)]
struct Value(f64);

impl Ord for Value {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // −0 comes of rounding; it is 0.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}
