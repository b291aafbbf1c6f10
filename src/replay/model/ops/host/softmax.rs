//! Softmax of attention scores of which every query sees a prefix of the keys.

use super::math::{dot, exp_in_place, largest, vectorized};

/// Which keys the rows of a block of scores may see: `group` rows belong to one query, the first of
/// them to query `first`, and query i sees the keys 0..=i.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Causal {
    pub(in super::super) first: usize,
    pub(in super::super) group: usize,
    pub(in super::super) rows: usize,
    pub(in super::super) keys: usize,
}

impl Causal {
    #[inline(always)]
    fn visible(&self, row: usize) -> usize {
        self.first + (row % self.rows) / self.group + 1
    }
}

/// scores ← softmax(scale · scores) over the visible keys, zero elsewhere.
pub(in super::super) fn forward(scores: &mut [f32], causal: Causal, scale: f32) {
    vectorized(
        #[inline(always)]
        || {
            for (row, values) in scores.chunks_exact_mut(causal.keys).enumerate() {
                let (seen, hidden) = values.split_at_mut(causal.visible(row));
                let sum = exp_in_place(seen, scale, largest(seen) * scale);
                let inverse = 1.0 / sum;
                for p in seen {
                    *p *= inverse;
                }
                hidden.fill(0.0);
            }
        },
    );
}

/// d ← gradient with respect to the unscaled scores: scale · p (d − Σ p d).
pub(in super::super) fn backward(d: &mut [f32], probabilities: &[f32], causal: Causal, scale: f32) {
    vectorized(
        #[inline(always)]
        || {
            let rows = d.chunks_exact_mut(causal.keys).zip(probabilities.chunks_exact(causal.keys));
            for (row, (d, p)) in rows.enumerate() {
                let visible = causal.visible(row);
                let (d, hidden) = d.split_at_mut(visible);
                let p = &p[..visible];
                let mean = dot(d, p);
                for (d, p) in d.iter_mut().zip(p) {
                    *d = scale * p * (*d - mean);
                }
                hidden.fill(0.0);
            }
        },
    );
}
