//! The gate of the feed-forward part: silu(gate) · up, of rows that hold gate and up side by side.

use super::math::{LANES, sigmoid, vectorized};

/// act = silu(gate) · up.
pub fn forward(gate_up: &[f32], inner: usize, act: &mut [f32]) {
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
pub fn backward(gate_up: &mut [f32], inner: usize, d_act: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            for (row, act) in gate_up.chunks_exact_mut(2 * inner).zip(d_act.chunks_exact_mut(inner)) {
                let (gate, up) = row.split_at_mut(inner);
                let (a, a_rest) = act.as_chunks_mut::<LANES>();
                let (g, g_rest) = gate.as_chunks_mut::<LANES>();
                let (u, u_rest) = up.as_chunks_mut::<LANES>();
                for ((a, g), u) in a.iter_mut().zip(g).zip(u) {
                    // Through values: in place, the compiler would have to assume that they overlap.
                    let (mut acts, mut gates, mut ups) = (*a, *g, *u);
                    for i in 0..LANES {
                        (acts[i], gates[i], ups[i]) = gradient(acts[i], gates[i], ups[i]);
                    }
                    (*a, *g, *u) = (acts, gates, ups);
                }
                for ((a, g), u) in a_rest.iter_mut().zip(g_rest).zip(u_rest) {
                    (*a, *g, *u) = gradient(*a, *g, *u);
                }
            }
        },
    );
}

/// The activation, and the gradients with respect to gate and up.
#[inline(always)]
fn gradient(d: f32, gate: f32, up: f32) -> (f32, f32, f32) {
    let s = sigmoid(gate);
    let silu = gate * s;
    (silu * up, d * up * s.mul_add(gate - silu, s), d * silu)
}
