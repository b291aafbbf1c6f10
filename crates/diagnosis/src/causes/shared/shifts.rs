//! How columns correlate at the same token and at its neighbours.

use stapo_collect::collect::signs::probe::{Moments, Probe};

/// Tokens that a correlation needs.
const FEWEST: f64 = 2_000.0;

/// Moments of a probe at the three shifts.
pub type Shifts = fn(&Probe) -> &[Moments; 3];

/// Pearson's correlation.
pub fn correlation([n, x, y, xx, yy, xy]: Moments) -> Option<f64> {
    let (vx, vy) = (xx - x * x / n, yy - y * y / n);
    (n >= FEWEST && vx > 0.0 && vy > 0.0).then(|| (xy - x * y / n) / (vx * vy).sqrt())
}

/// The moments of all probes at −1, 0 and +1.
pub fn moments(probes: &[Probe], of: Shifts) -> [Moments; 3] {
    let mut sums = [[0.0; 6]; 3];
    for probe in probes {
        for (sum, more) in sums.iter_mut().zip(of(probe)) {
            sum.iter_mut().zip(more).for_each(|(a, b)| *a += b);
        }
    }
    sums
}
