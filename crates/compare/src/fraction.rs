//! A part over a whole: what every metric is, so that groups and steps can be resampled; and how far two values
//! of it are apart.

/// Values that differ by less than this part of the larger one are equal: sums in another order differ by as much.
const ROUNDING: f64 = 1e-12;

/// A part over a whole.
pub type Fraction = [f64; 2];

/// The value of a fraction; `None` where there is nothing.
#[must_use]
pub fn value([part, whole]: Fraction) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// `right` − `left`; 0 where that is rounding.
#[must_use]
pub fn difference(left: f64, right: f64) -> f64 {
    if is_rounding(left, right) { 0.0 } else { right - left }
}

/// Both samples, values that rounding tells apart made equal.
#[must_use]
pub fn without_rounding(left: &[f64], right: &[f64]) -> [Vec<f64>; 2] {
    let mut all: Vec<f64> = left.iter().chain(right).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_unstable_by(|a, b| all[*a].total_cmp(&all[*b]));
    // The lowest of its kind stands for a value, so that no chain of small differences becomes a large one.
    for pair in 1..order.len() {
        let (below, at) = (all[order[pair - 1]], order[pair]);
        if is_rounding(below, all[at]) {
            all[at] = below;
        }
    }
    let right = all.split_off(left.len());
    [all, right]
}

fn is_rounding(left: f64, right: f64) -> bool {
    (right - left).abs() < ROUNDING * left.abs().max(right.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_difference() {
        assert_eq!(difference(0.3, 0.1 + 0.2), 0.0);
        assert_eq!(difference(2e-7, 2e-7 * (1.0 + 1e-13)), 0.0);
        assert_eq!(difference(0.0, 1e-20), 1e-20);
        assert_eq!(difference(1.0, 1.0 + 1e-11), 1.0 + 1e-11 - 1.0);
        let [left, right] = without_rounding(&[0.1 + 0.2, 5.0, -2.0], &[0.3, 5.0 + 1e-11]);
        assert_eq!((left, right), (vec![0.3, 5.0, -2.0], vec![0.3, 5.0 + 1e-11]));
    }
}
