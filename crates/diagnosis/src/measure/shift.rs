//! Whether columns lie on the same tokens: the trainer's surprisal agrees best with the entropy, and with the sampler's
//! surprisal, of the token itself.

use super::Measures;
use stapo_evidence::policies::Moments;

/// Pairs that a correlation has to stand on.
const ENOUGH: f64 = 1000.0;

/// The column that is held against the trainer's log-probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Entropy.
    Entropy,
    /// The sampler's log-probability.
    Rollout,
}

/// Correlations with the column one token before, at and one after the token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aligned {
    /// The column.
    pub column: Column,
    /// At the token before.
    pub before: f64,
    /// At the token.
    pub same: f64,
    /// At the token after.
    pub after: f64,
    /// The smaller variance over the larger, at the token.
    pub variances: f64,
}

impl Measures<'_> {
    /// How columns lie beside the trainer's log-probability.
    #[must_use]
    pub fn alignment(&self) -> Vec<Aligned> {
        let shifts = &self.evidence.policies.shifts;
        [Column::Entropy, Column::Rollout]
            .into_iter()
            .filter_map(|column| {
                let mut sums = [[0.0; 6]; 3];
                for shift in shifts.values() {
                    let moments = match column {
                        Column::Entropy => &shift.entropy,
                        Column::Rollout => &shift.rollout,
                    };
                    for (sums, moments) in sums.iter_mut().zip(moments) {
                        sums.iter_mut().zip(Moments::values(moments)).for_each(|(sum, term)| *sum += term);
                    }
                }
                let [before, same, after] = sums.map(correlation);
                let (same, variances) = same?;
                Some(Aligned { column, before: before?.0, same, after: after?.0, variances })
            })
            .collect()
    }
}

/// The correlation, and the smaller variance over the larger.
fn correlation([n, x, y, xx, yy, xy]: [f64; 6]) -> Option<(f64, f64)> {
    let (vx, vy) = (xx - x * x / n, yy - y * y / n);
    (n >= ENOUGH && vx > 0.0 && vy > 0.0)
        .then(|| ((xy - x * y / n) / (vx * vy).sqrt(), vx.min(vy) / vx.max(vy)))
}
