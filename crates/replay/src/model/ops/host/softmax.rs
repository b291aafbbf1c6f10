//! Softmax of attention scores of which every query sees a prefix of the keys.

use super::super::blocks::Causal;
use super::math::{dot, exp_in_place, largest, vectorized};

/// scores ← softmax(scale · scores) over the visible keys, zero elsewhere.
pub fn forward(scores: &mut [f32], causal: Causal, scale: f32) {
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
pub fn backward(d: &mut [f32], probabilities: &[f32], causal: Causal, scale: f32) {
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
