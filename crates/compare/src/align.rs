//! Which steps of two runs belong together.
//!
//! No join of frames: two lists of steps in order, of which an as-of join would give one step to several
//! others. Here each is in one pair at most, and the pairs are the same, whichever run is the left one.

use std::cmp::Ordering;

use super::settings::StepAlignment;

/// Pairs of steps that belong together, by their places in the two lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedSteps {
    /// How they were found.
    pub method: StepAlignment,
    /// Places, ascending on both sides.
    pub pairs: Vec<(usize, usize)>,
}

impl AlignedSteps {
    /// Aligns two ascending lists of steps; without a method, by the strictest that pairs at least
    /// half of the shorter list.
    #[must_use]
    pub fn of(left: &[i64], right: &[i64], method: Option<StepAlignment>) -> Self {
        let by = |method| Self { method, pairs: pairs(left, right, method) };
        if let Some(method) = method {
            return by(method);
        }
        let enough = left.len().min(right.len()).div_ceil(2);
        [StepAlignment::Exact, StepAlignment::Nearest]
            .into_iter()
            .map(by)
            .find(|alignment| alignment.pairs.len() >= enough)
            .unwrap_or_else(|| by(StepAlignment::Progress))
    }

    /// Whether pairs are of about the same step: then they are paired in tests, too.
    #[must_use]
    pub fn is_pairing(&self) -> bool {
        self.method != StepAlignment::Progress
    }
}

fn pairs(left: &[i64], right: &[i64], method: StepAlignment) -> Vec<(usize, usize)> {
    match method {
        StepAlignment::Exact => {
            let same = |(i, step): (usize, &i64)| Some((i, right.binary_search(step).ok()?));
            left.iter().enumerate().filter_map(same).collect()
        }
        StepAlignment::Nearest => {
            let reach = spacing(left).max(spacing(right)) / 2.0;
            let position = |steps: &[i64]| steps.iter().map(|s| *s as f64).collect::<Vec<f64>>();
            nearest(&position(left), &position(right), reach)
        }
        StepAlignment::Progress => {
            let reach = 0.5 / (left.len().min(right.len()).max(2) - 1) as f64;
            nearest(&progress(left), &progress(right), reach)
        }
    }
}

/// The median distance of neighbours.
fn spacing(steps: &[i64]) -> f64 {
    let mut gaps: Vec<f64> = steps.windows(2).map(|w| w[1].abs_diff(w[0]) as f64).collect();
    stapo_base::stats::quantile::select_quantile(&mut gaps, 0.5).unwrap_or(0.0)
}

/// From 0 at the first step to 1 at the last.
fn progress(steps: &[i64]) -> Vec<f64> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Vec::new() };
    let length = (last.abs_diff(*first) as f64).max(1.0);
    steps.iter().map(|s| s.abs_diff(*first) as f64 / length).collect()
}

/// One-to-one pairs in order, each point of the shorter list with the nearest that is still free.
fn nearest(left: &[f64], right: &[f64], reach: f64) -> Vec<(usize, usize)> {
    // Of two as long the one that begins first: the same pairs, whichever is the left one.
    let turned = left.len().cmp(&right.len()).then(left.partial_cmp(right).unwrap_or(Ordering::Equal));
    if turned.is_gt() {
        return nearest(right, left, reach).into_iter().map(|(r, l)| (l, r)).collect();
    }
    let mut pairs = Vec::new();
    let mut free = 0;
    for (i, x) in left.iter().enumerate() {
        let distance = |j: usize| (right[j] - x).abs();
        while free + 1 < right.len() && distance(free + 1) <= distance(free) {
            free += 1;
        }
        if free < right.len() && distance(free) <= reach + 1e-12 {
            pairs.push((i, free));
            free += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(left: &[i64], right: &[i64]) -> (StepAlignment, Vec<(i64, i64)>) {
        let found = AlignedSteps::of(left, right, None);
        (found.method, found.pairs.iter().map(|(l, r)| (left[*l], right[*r])).collect())
    }

    #[test]
    fn same_steps_come_first() {
        assert_eq!(aligned(&[0, 10, 20], &[0, 10, 20]).1, [(0, 0), (10, 10), (20, 20)]);
        let (method, pairs) = aligned(&[0, 12, 24, 30], &[0, 12, 24, 36, 48]);
        assert_eq!((method, pairs.len()), (StepAlignment::Exact, 3));
    }

    #[test]
    fn grids_that_are_off_by_one_are_near() {
        let (method, pairs) = aligned(&[0, 10, 20, 30], &[1, 11, 21, 31, 41]);
        assert_eq!(method, StepAlignment::Nearest);
        assert_eq!(pairs, [(0, 1), (10, 11), (20, 21), (30, 31)]);
        let (method, pairs) = aligned(&[5, 15, 25], &[0, 1, 2, 3, 4, 6, 7, 14, 16, 24, 26, 27]);
        assert_eq!(method, StepAlignment::Nearest);
        assert_eq!(pairs, [(5, 6), (15, 16), (25, 26)]);
    }

    #[test]
    fn runs_of_other_lengths_are_aligned_by_progress() {
        let (method, pairs) = aligned(&[1000, 1010, 1020], &[0, 500, 1000]);
        assert_eq!(method, StepAlignment::Progress);
        assert_eq!(pairs, [(1000, 0), (1010, 500), (1020, 1000)]);
        assert_eq!(aligned(&[3], &[900]), (StepAlignment::Progress, vec![(3, 900)]));
        assert_eq!(aligned(&[], &[1]).1, []);
        // Each of the left is as near to two of the right: the pairs are the same the other way round.
        let (left, right) = ([0, 10, 20, 30, 40], [5, 15, 25, 35, 45]);
        let turned: Vec<(i64, i64)> = aligned(&right, &left).1.into_iter().map(|(r, l)| (l, r)).collect();
        assert_eq!((aligned(&left, &right).1.len(), aligned(&left, &right).1), (5, turned));
        let far = aligned(&[i64::MIN, 0, i64::MAX], &[7, 8, 9]);
        assert_eq!(far.1.len(), 3);
    }

    #[test]
    fn pairs_are_one_to_one_and_in_order() {
        let left: Vec<i64> =
            (0..40).map(|i| i * 7 % 90).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let right: Vec<i64> = (0..60).map(|i| i * 3 + 1).collect();
        for method in [StepAlignment::Exact, StepAlignment::Nearest, StepAlignment::Progress] {
            let found = AlignedSteps::of(&left, &right, Some(method)).pairs;
            assert!(found.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1), "{method:?}");
        }
    }
}
