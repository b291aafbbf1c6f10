//! Root-mean-square norms, row by row.

use super::math::{dot, vectorized};

/// h = x / rms(x) · w.
pub fn forward(x: &[f32], weight: &[f32], eps: f32, h: &mut [f32]) {
    let width = weight.len();
    vectorized(
        #[inline(always)]
        || {
            for (x, h) in x.chunks_exact(width).zip(h.chunks_exact_mut(width)) {
                let scale = inverse_rms(x, eps);
                for ((h, x), w) in h.iter_mut().zip(x).zip(weight) {
                    *h = x * scale * w;
                }
            }
        },
    );
}

/// dy ← gradient with respect to x, plus `residual`; adds to the weight's gradient.
pub fn backward(
    dy: &mut [f32],
    x: &[f32],
    weight: &[f32],
    eps: f32,
    residual: Option<&[f32]>,
    weight_gradient: &mut [f32],
) {
    let width = weight.len();
    vectorized(
        #[inline(always)]
        || {
            for (row, (dy, x)) in dy.chunks_exact_mut(width).zip(x.chunks_exact(width)).enumerate() {
                row_backward(dy, x, weight, eps, weight_gradient);
                if let Some(residual) = residual {
                    for (d, r) in dy.iter_mut().zip(&residual[row * width..(row + 1) * width]) {
                        *d += r;
                    }
                }
            }
        },
    );
}

#[inline(always)]
pub(super) fn inverse_rms(x: &[f32], eps: f32) -> f32 {
    1.0 / (dot(x, x) / x.len() as f32 + eps).sqrt()
}

/// One row: with s = 1/rms and x̂ = s·x, dx = s (w·dy − x̂ · mean(w·dy·x̂)).
#[inline(always)]
pub(super) fn row_backward(dy: &mut [f32], x: &[f32], weight: &[f32], eps: f32, weight_gradient: &mut [f32]) {
    let scale = inverse_rms(x, eps);
    for (((g, d), x), w) in weight_gradient.iter_mut().zip(dy.iter_mut()).zip(x).zip(weight) {
        *g += *d * x * scale;
        *d *= w;
    }
    let along = dot(dy, x) * scale * scale / x.len() as f32;
    for (d, x) in dy.iter_mut().zip(x) {
        *d = scale * (*d - x * along);
    }
}
