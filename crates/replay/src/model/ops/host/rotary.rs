//! Per-head norms and rotary encoding of queries and keys, straight into the order of attention.

use super::super::heads::HeadShape;
use super::math::vectorized;
use super::norm::{inverse_rms, row_backward};

/// Which heads of the rows are meant: `heads` of them per key head, from column `offset`.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    pub offset: usize,
    pub heads: usize,
    /// Per-head norm, where the architecture has one.
    pub norm: Option<(&'a [f32], f32)>,
    /// cos and sin of the first position and on, [positions, width / 2]; values are not turned.
    pub angles: Option<(&'a [f32], &'a [f32])>,
}

/// Packs `tokens` rows into [key head, token × heads, width], normalised and turned.
pub fn forward(rows: &[f32], shape: HeadShape, part: Part<'_>) -> Vec<f32> {
    let tokens = rows.len() / shape.row();
    let mut out = vec![0.0; tokens * shape.kv_heads * part.heads * shape.width];
    vectorized(
        #[inline(always)]
        || {
            for (index, to) in out.chunks_exact_mut(shape.width).enumerate() {
                let (token, start) = locate(index, tokens, shape, part);
                let from = &rows[start..start + shape.width];
                match part.norm {
                    None => to.copy_from_slice(from),
                    Some((weight, eps)) => {
                        let scale = inverse_rms(from, eps);
                        for ((t, f), w) in to.iter_mut().zip(from).zip(weight) {
                            *t = f * scale * w;
                        }
                    }
                }
                if let Some((cos, sin)) = part.angles {
                    turn(to, cos, sin, token, 1.0);
                }
            }
        },
    );
    out
}

/// Writes the gradient of packed heads back into rows: turned back, through the norm.
pub fn backward(
    gradient: &mut [f32],
    rows: &[f32],
    d_rows: &mut [f32],
    shape: HeadShape,
    part: Part<'_>,
    norm_gradient: &mut [f32],
) {
    let tokens = d_rows.len() / shape.row();
    vectorized(
        #[inline(always)]
        || {
            for (index, d) in gradient.chunks_exact_mut(shape.width).enumerate() {
                let (token, start) = locate(index, tokens, shape, part);
                if let Some((cos, sin)) = part.angles {
                    turn(d, cos, sin, token, -1.0);
                }
                if let Some((weight, eps)) = part.norm {
                    row_backward(d, &rows[start..start + shape.width], weight, eps, norm_gradient);
                }
                d_rows[start..start + shape.width].copy_from_slice(d);
            }
        },
    );
}

/// Token and place in the rows of a packed head.
#[inline(always)]
fn locate(index: usize, tokens: usize, shape: HeadShape, part: Part<'_>) -> (usize, usize) {
    let (kv, rest) = (index / (tokens * part.heads), index % (tokens * part.heads));
    let (token, head) = (rest / part.heads, rest % part.heads);
    (token, token * shape.row() + part.offset + (kv * part.heads + head) * shape.width)
}

/// Turns the pairs (x_j, x_{j + width/2}) by the angles of a position.
#[inline(always)]
fn turn(head: &mut [f32], cos: &[f32], sin: &[f32], position: usize, direction: f32) {
    let half = head.len() / 2;
    let (cos, sin) =
        (&cos[position * half..(position + 1) * half], &sin[position * half..(position + 1) * half]);
    let (first, second) = head.split_at_mut(half);
    for (((a, b), c), s) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        let (x, y, s) = (*a, *b, s * direction);
        *a = x * c - y * s;
        *b = y * c + x * s;
    }
}
