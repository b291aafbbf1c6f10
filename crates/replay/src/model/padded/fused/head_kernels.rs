//! The passes over queries, keys and values: a plane for each head of each token.

use cubecl::prelude::*;

use super::launch::LANES;
use super::norm::inverse_root_mean_square;
use super::places::{packed_row, row_of_plane};

/// Norm, turn, scale and place of one part's heads: `first` is its first head of the `all` in a row.
#[cube(launch)]
pub fn pack_kernel<I: Float, O: Float>(
    qkv: &Tensor<I>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    weight: &Tensor<f32>,
    packed: &mut Tensor<O>,
    tokens: usize,
    length: usize,
    kv: usize,
    per_key: usize,
    first: usize,
    all: usize,
    half: usize,
    eps: f32,
    scale: f32,
    #[comptime] normed: bool,
    #[comptime] turned: bool,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let plane = row_of_plane();
    let heads = kv * per_key;
    if plane >= tokens * heads {
        terminate!();
    }
    let token = plane / heads;
    let head = plane % heads;
    let width = 2 * half;
    let from = (token * all + first + head) * width;
    let to = packed_row(token, head, length, kv, per_key) * width;
    let angles = token % length * width + half;
    let lane = UNIT_POS_X as usize;
    let mut by = f32::new(1.0);
    if normed {
        let mut squares = f32::new(0.0);
        let mut i = lane;
        while i < width {
            let x = f32::cast_from(qkv[from + i]);
            squares += x * x;
            i += LANES;
        }
        by = inverse_root_mean_square(plane_sum(squares), width, eps);
    }
    let mut i = lane;
    while i < half {
        let mut a = f32::cast_from(qkv[from + i]);
        let mut b = f32::cast_from(qkv[from + half + i]);
        if normed {
            a = a * by * weight[i];
            b = b * by * weight[half + i];
        }
        if turned {
            let c = cos[angles + i];
            let s = sin[angles + i];
            packed[to + i] = O::cast_from((a * c - b * s) * scale);
            packed[to + half + i] = O::cast_from((b * c + a * s) * scale);
        } else {
            packed[to + i] = O::cast_from(a * scale);
            packed[to + half + i] = O::cast_from(b * scale);
        }
        i += LANES;
    }
}

/// The way back of [`pack_kernel`]: columns of the rows' gradient, and what the norm multiplied with.
#[cube(launch)]
pub fn unpack_kernel<I: Float, O: Float>(
    gradient: &Tensor<f32>,
    qkv: &Tensor<I>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    weight: &Tensor<f32>,
    d: &mut Tensor<O>,
    scales: &mut Tensor<f32>,
    tokens: usize,
    length: usize,
    kv: usize,
    per_key: usize,
    first: usize,
    all: usize,
    half: usize,
    eps: f32,
    scale: f32,
    #[comptime] normed: bool,
    #[comptime] turned: bool,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let plane = row_of_plane();
    let heads = kv * per_key;
    if plane >= tokens * heads {
        terminate!();
    }
    let token = plane / heads;
    let head = plane % heads;
    let width = 2 * half;
    let place = token * all + first + head;
    let to = place * width;
    let from = packed_row(token, head, length, kv, per_key) * width;
    let angles = token % length * width + half;
    let lane = UNIT_POS_X as usize;
    // Twice where there is a norm: the sums that its gradient needs, then the gradient.
    let mut squares = f32::new(0.0);
    let mut along = f32::new(0.0);
    let mut i = lane;
    while i < half {
        let (a, b) = pair_before(gradient, cos, sin, from + i, angles + i, half, scale, turned);
        if normed {
            let x = f32::cast_from(qkv[to + i]);
            let y = f32::cast_from(qkv[to + half + i]);
            squares += x * x + y * y;
            along += a * weight[i] * x + b * weight[half + i] * y;
        } else {
            d[to + i] = O::cast_from(a);
            d[to + half + i] = O::cast_from(b);
        }
        i += LANES;
    }
    if normed {
        let by = inverse_root_mean_square(plane_sum(squares), width, eps);
        let along = plane_sum(along) * by / f32::cast_from(width as u32);
        let mut i = lane;
        while i < half {
            let (a, b) = pair_before(gradient, cos, sin, from + i, angles + i, half, scale, turned);
            let x = f32::cast_from(qkv[to + i]) * by;
            let y = f32::cast_from(qkv[to + half + i]) * by;
            d[to + i] = O::cast_from((a * weight[i] - x * along) * by);
            d[to + half + i] = O::cast_from((b * weight[half + i] - y * along) * by);
            i += LANES;
        }
        if lane == 0 {
            scales[place] = by;
        }
    }
}

/// The gradients of both numbers of a pair before they were turned and scaled.
#[cube]
fn pair_before(
    gradient: &Tensor<f32>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    at: usize,
    angle: usize,
    half: usize,
    scale: f32,
    #[comptime] turned: bool,
) -> (f32, f32) {
    let a = gradient[at] * scale;
    let b = gradient[at + half] * scale;
    let mut before = a;
    let mut other = b;
    if turned {
        before = a * cos[angle] + b * sin[angle];
        other = b * cos[angle] - a * sin[angle];
    }
    (before, other)
}

/// Sums of the gradient of a norm's weight over strips of tokens.
#[cube(launch)]
pub fn norm_gradient_kernel<I: Float>(
    gradient: &Tensor<f32>,
    qkv: &Tensor<I>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    scales: &Tensor<f32>,
    sums: &mut Tensor<f32>,
    tokens: usize,
    length: usize,
    kv: usize,
    per_key: usize,
    first: usize,
    all: usize,
    half: usize,
    scale: f32,
    strip: usize,
    #[define(I)] _element: ElemType,
) {
    let width = 2 * half;
    let column = (CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X) as usize;
    if column >= width {
        terminate!();
    }
    let part = CUBE_POS_Y as usize;
    let mut token = part * strip;
    let mut end = token + strip;
    if end > tokens {
        end = tokens;
    }
    let mut sum = f32::new(0.0);
    while token < end {
        let angle = token % length * width + half + column % half;
        let mut head = 0usize;
        while head < kv * per_key {
            let from = packed_row(token, head, length, kv, per_key) * width;
            let mut d = gradient[from + column] * cos[angle];
            if column < half {
                d += gradient[from + column + half] * sin[angle];
            } else {
                d -= gradient[from + column - half] * sin[angle];
            }
            let place = token * all + first + head;
            sum += d * scale * f32::cast_from(qkv[place * width + column]) * scales[place];
            head += 1;
        }
        token += 1;
    }
    sums[part * width + column] = sum;
}
