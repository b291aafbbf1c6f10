//! The gate of the feed-forward part: silu(gate) · up, of rows that hold gate and up side by side.

use super::math::{sigmoid, vectorized};

/// act = silu(gate) · up.
pub(in super::super) fn forward(gate_up: &[f32], inner: usize, act: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            for (row, act) in gate_up.chunks_exact(2 * inner).zip(act.chunks_exact_mut(inner)) {
                let (gate, up) = row.split_at(inner);
                for ((a, g), u) in act.iter_mut().zip(gate).zip(up) {
                    *a = g * sigmoid(*g) * u;
                }
            }
        },
    );
}

/// gate_up ← its gradient, and d_act ← the activation itself, which the next product needs.
pub(in super::super) fn backward(gate_up: &mut [f32], inner: usize, d_act: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            for (row, act) in gate_up.chunks_exact_mut(2 * inner).zip(d_act.chunks_exact_mut(inner)) {
                let (gate, up) = row.split_at_mut(inner);
                for ((a, g), u) in act.iter_mut().zip(gate).zip(up) {
                    let (d, s, gate, up) = (*a, sigmoid(*g), *g, *u);
                    let silu = gate * s;
                    *a = silu * up;
                    *u = d * silu;
                    *g = d * up * s.mul_add(gate - silu, s);
                }
            }
        },
    );
}
