//! Queries, keys and values between rows of tokens and the order of attention: per-head norm, turn,
//! scale and place in one pass, a plane for each head of each token.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::super::heads::{Packed, PaddedHeads};
use super::{LANES, by_column, by_row, element, factor, fresh, given, taken};
use crate::replay::model::ops::HeadNorms;

/// Tokens whose share of a norm's gradient one thread sums.
const STRIP: usize = 16;

/// Normalises, turns, scales and packs; the parts are factors.
pub fn pack(
    heads: &PaddedHeads<'_>,
    qkv: &Burn<2>,
    norms: HeadNorms<&Burn<2>>,
    half: bool,
) -> Option<Packed> {
    let (tokens, (shape, eps, scale)) = (heads.tokens(), heads.constants());
    let (kv, group, width) = (shape.kv_heads, shape.group, shape.width);
    let (qkv, [cos, sin]) = (given(qkv)?, heads.angles());
    let (cos, sin) = (given(cos)?, given(sin)?);
    let normed = norms.is_some();
    let [q_norm, k_norm] = match norms {
        Some((q, k)) => [given(q)?, given(k)?],
        None => [cos.clone(), cos.clone()],
    };
    let pairs = tokens / heads.width() * kv;
    let q = fresh(&qkv, [pairs, heads.width() * group, width], factor(half));
    let [k, v] = [(); 2].map(|()| fresh(&qkv, [pairs, heads.width(), width], factor(half)));
    let (count, dim) = by_row(tokens * (kv * group + 2 * kv));
    let elements = [element(&qkv), element(&q)];
    pack_kernel::launch(
        &q.client,
        count,
        dim,
        qkv.into_tensor_arg(),
        cos.into_tensor_arg(),
        sin.into_tensor_arg(),
        q_norm.into_tensor_arg(),
        k_norm.into_tensor_arg(),
        q.clone().into_tensor_arg(),
        k.clone().into_tensor_arg(),
        v.clone().into_tensor_arg(),
        tokens,
        heads.width(),
        kv,
        group,
        width / 2,
        eps as f32,
        scale as f32,
        normed,
        elements,
    );
    Some(Packed { q: taken(q), k: taken(k), v: taken(v) })
}

#[cube(launch)]
fn pack_kernel<I: Float, O: Float>(
    qkv: &Tensor<I>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    q_norm: &Tensor<f32>,
    k_norm: &Tensor<f32>,
    q: &mut Tensor<O>,
    k: &mut Tensor<O>,
    v: &mut Tensor<O>,
    tokens: usize,
    length: usize,
    kv: usize,
    group: usize,
    half: usize,
    eps: f32,
    scale: f32,
    #[comptime] normed: bool,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let plane = (CUBE_POS_X * CUBE_DIM_Y + UNIT_POS_Y) as usize;
    let queries = kv * group;
    let heads = queries + 2 * kv;
    if plane >= tokens * heads {
        terminate!();
    }
    let token = plane / heads;
    let head = plane % heads;
    let sequence = token / length;
    let position = token % length;
    let width = 2 * half;
    let from = plane * width;
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
        by = f32::new(1.0) / (plane_sum(squares) / f32::cast_from(width as u32) + eps).sqrt();
    }
    let mut i = lane;
    while i < half {
        let mut a = f32::cast_from(qkv[from + i]);
        let mut b = f32::cast_from(qkv[from + half + i]);
        if head >= queries + kv {
            let key = sequence * kv + head - queries - kv;
            let to = (key * length + position) * width + i;
            v[to] = O::cast_from(a);
            v[to + half] = O::cast_from(b);
        } else {
            let c = cos[position * width + half + i];
            let s = sin[position * width + half + i];
            if head < queries {
                if normed {
                    a = a * by * q_norm[i];
                    b = b * by * q_norm[half + i];
                }
                let key = sequence * kv + head / group;
                let to = ((key * length + position) * group + head % group) * width + i;
                q[to] = O::cast_from((a * c - b * s) * scale);
                q[to + half] = O::cast_from((b * c + a * s) * scale);
            } else {
                if normed {
                    a = a * by * k_norm[i];
                    b = b * by * k_norm[half + i];
                }
                let key = sequence * kv + head - queries;
                let to = (key * length + position) * width + i;
                k[to] = O::cast_from(a * c - b * s);
                k[to + half] = O::cast_from(b * c + a * s);
            }
        }
        i += LANES;
    }
}

/// Gradient of packed heads with respect to the rows, as a factor, and to the per-head norms.
pub fn pack_backward(
    heads: &PaddedHeads<'_>,
    gradient: &Packed,
    qkv: &Burn<2>,
    norms: HeadNorms<&Burn<2>>,
    half: bool,
) -> Option<(Burn<2>, HeadNorms<Burn<2>>)> {
    let (tokens, (shape, eps, scale)) = (heads.tokens(), heads.constants());
    let (kv, group, width) = (shape.kv_heads, shape.group, shape.width);
    let (qkv, [cos, sin]) = (given(qkv)?, heads.angles());
    let (cos, sin) = (given(cos)?, given(sin)?);
    let [dq, dk, dv] = [given(&gradient.q)?, given(&gradient.k)?, given(&gradient.v)?];
    let normed = norms.is_some();
    let [q_norm, k_norm] = match norms {
        Some((q, k)) => [given(q)?, given(k)?],
        None => [cos.clone(), cos.clone()],
    };
    let all = kv * group + 2 * kv;
    let d = fresh(&qkv, [tokens, all * width], factor(half));
    let scales = fresh(&qkv, [tokens, all], DType::F32);
    let (count, dim) = by_row(tokens * all);
    let elements = [element(&qkv), element(&d)];
    pack_backward_kernel::launch(
        &d.client,
        count,
        dim,
        dq.clone().into_tensor_arg(),
        dk.clone().into_tensor_arg(),
        dv.into_tensor_arg(),
        qkv.clone().into_tensor_arg(),
        cos.clone().into_tensor_arg(),
        sin.clone().into_tensor_arg(),
        q_norm.into_tensor_arg(),
        k_norm.into_tensor_arg(),
        d.clone().into_tensor_arg(),
        scales.clone().into_tensor_arg(),
        tokens,
        heads.width(),
        kv,
        group,
        width / 2,
        eps as f32,
        scale as f32,
        normed,
        elements,
    );
    if !normed {
        return Some((taken(d), None));
    }
    let strips = tokens.div_ceil(STRIP);
    let of_part = |gradient: burn_cubecl::tensor::CubeTensor, per_key: usize, first: usize, scale: f64| {
        let parts = fresh(&qkv, [strips, width], DType::F32);
        let (count, dim) = by_column(strips, width);
        norm_gradient_kernel::launch(
            &parts.client,
            count,
            dim,
            gradient.into_tensor_arg(),
            qkv.clone().into_tensor_arg(),
            cos.clone().into_tensor_arg(),
            sin.clone().into_tensor_arg(),
            scales.clone().into_tensor_arg(),
            parts.clone().into_tensor_arg(),
            tokens,
            heads.width(),
            kv,
            per_key,
            first,
            all,
            width / 2,
            scale as f32,
            STRIP,
            element(&qkv),
        );
        taken::<2>(parts).sum_dim(0)
    };
    let q_gradient = of_part(dq, group, 0, scale);
    let k_gradient = of_part(dk, 1, kv * group, 1.0);
    Some((taken(d), Some((q_gradient, k_gradient))))
}

#[cube(launch)]
fn pack_backward_kernel<I: Float, O: Float>(
    dq: &Tensor<f32>,
    dk: &Tensor<f32>,
    dv: &Tensor<f32>,
    qkv: &Tensor<I>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    q_norm: &Tensor<f32>,
    k_norm: &Tensor<f32>,
    d: &mut Tensor<O>,
    scales: &mut Tensor<f32>,
    tokens: usize,
    length: usize,
    kv: usize,
    group: usize,
    half: usize,
    eps: f32,
    scale: f32,
    #[comptime] normed: bool,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let plane = (CUBE_POS_X * CUBE_DIM_Y + UNIT_POS_Y) as usize;
    let queries = kv * group;
    let heads = queries + 2 * kv;
    if plane >= tokens * heads {
        terminate!();
    }
    let token = plane / heads;
    let head = plane % heads;
    let sequence = token / length;
    let position = token % length;
    let width = 2 * half;
    let at = plane * width;
    let lane = UNIT_POS_X as usize;
    if head >= queries + kv {
        let from = ((sequence * kv + head - queries - kv) * length + position) * width;
        let mut i = lane;
        while i < width {
            d[at + i] = O::cast_from(dv[from + i]);
            i += LANES;
        }
    } else {
        // Twice: the sums that the norm's gradient needs, then the gradient.
        let mut squares = f32::new(0.0);
        let mut along = f32::new(0.0);
        let mut i = lane;
        while i < half {
            let c = cos[position * width + half + i];
            let s = sin[position * width + half + i];
            let mut a = f32::new(0.0);
            let mut b = f32::new(0.0);
            if head < queries {
                let from =
                    (((sequence * kv + head / group) * length + position) * group + head % group) * width + i;
                a = dq[from] * scale;
                b = dq[from + half] * scale;
            } else {
                let from = ((sequence * kv + head - queries) * length + position) * width + i;
                a = dk[from];
                b = dk[from + half];
            }
            let turned_a = a * c + b * s;
            let turned_b = b * c - a * s;
            if normed {
                let x = f32::cast_from(qkv[at + i]);
                let y = f32::cast_from(qkv[at + half + i]);
                squares += x * x + y * y;
                if head < queries {
                    along += turned_a * q_norm[i] * x + turned_b * q_norm[half + i] * y;
                } else {
                    along += turned_a * k_norm[i] * x + turned_b * k_norm[half + i] * y;
                }
            } else {
                d[at + i] = O::cast_from(turned_a);
                d[at + half + i] = O::cast_from(turned_b);
            }
            i += LANES;
        }
        if normed {
            let count = f32::cast_from(width as u32);
            let by = f32::new(1.0) / (plane_sum(squares) / count + eps).sqrt();
            let along = plane_sum(along) * by / count;
            let mut i = lane;
            while i < half {
                let c = cos[position * width + half + i];
                let s = sin[position * width + half + i];
                if head < queries {
                    let from = (((sequence * kv + head / group) * length + position) * group + head % group)
                        * width
                        + i;
                    let a = dq[from] * scale * q_norm[i];
                    let b = dq[from + half] * scale * q_norm[i];
                    let other_a = dq[from] * scale * q_norm[half + i];
                    let other_b = dq[from + half] * scale * q_norm[half + i];
                    let x = f32::cast_from(qkv[at + i]) * by;
                    let y = f32::cast_from(qkv[at + half + i]) * by;
                    d[at + i] = O::cast_from((a * c + b * s - x * along) * by);
                    d[at + half + i] = O::cast_from((other_b * c - other_a * s - y * along) * by);
                } else {
                    let from = ((sequence * kv + head - queries) * length + position) * width + i;
                    let a = dk[from] * k_norm[i];
                    let b = dk[from + half] * k_norm[i];
                    let other_a = dk[from] * k_norm[half + i];
                    let other_b = dk[from + half] * k_norm[half + i];
                    let x = f32::cast_from(qkv[at + i]) * by;
                    let y = f32::cast_from(qkv[at + half + i]) * by;
                    d[at + i] = O::cast_from((a * c + b * s - x * along) * by);
                    d[at + half + i] = O::cast_from((other_b * c - other_a * s - y * along) * by);
                }
                i += LANES;
            }
            if lane == 0 {
                scales[plane] = by;
            }
        }
    }
}

#[cube(launch)]
fn norm_gradient_kernel<I: Float>(
    gradient: &Tensor<f32>,
    qkv: &Tensor<I>,
    cos: &Tensor<f32>,
    sin: &Tensor<f32>,
    scales: &Tensor<f32>,
    parts: &mut Tensor<f32>,
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
        let sequence = token / length;
        let position = token % length;
        let c = cos[position * width + half + column % half];
        let s = sin[position * width + half + column % half];
        let mut head = 0usize;
        while head < kv * per_key {
            let row = ((sequence * kv + head / per_key) * length + position) * per_key + head % per_key;
            let from = row * width;
            let mut d = gradient[from + column] * c;
            if column < half {
                d += gradient[from + column + half] * s;
            } else {
                d -= gradient[from + column - half] * s;
            }
            let x = f32::cast_from(qkv[(token * all + first + head) * width + column]);
            sum += d * scale * x * scales[token * all + first + head];
            head += 1;
        }
        token += 1;
    }
    parts[part * width + column] = sum;
}

/// Packed heads as rows of tokens, as a factor.
pub fn join(heads: &PaddedHeads<'_>, packed: &Burn<3>, half: bool) -> Option<Burn<2>> {
    let (tokens, (shape, ..)) = (heads.tokens(), heads.constants());
    let (queries, width) = (shape.kv_heads * shape.group, shape.width);
    let packed = given(packed)?;
    let rows = fresh(&packed, [tokens, queries * width], factor(half));
    let (count, dim) = by_row(tokens * queries);
    join_kernel::launch(
        &rows.client,
        count,
        dim,
        packed.into_tensor_arg(),
        rows.clone().into_tensor_arg(),
        tokens,
        heads.width(),
        shape.kv_heads,
        shape.group,
        width,
        element(&rows),
    );
    Some(taken(rows))
}

#[cube(launch)]
fn join_kernel<O: Float>(
    packed: &Tensor<f32>,
    rows: &mut Tensor<O>,
    tokens: usize,
    length: usize,
    kv: usize,
    group: usize,
    width: usize,
    #[define(O)] _out: ElemType,
) {
    let plane = (CUBE_POS_X * CUBE_DIM_Y + UNIT_POS_Y) as usize;
    let queries = kv * group;
    if plane >= tokens * queries {
        terminate!();
    }
    let token = plane / queries;
    let head = plane % queries;
    let key = token / length * kv + head / group;
    let from = ((key * length + token % length) * group + head % group) * width;
    let mut i = UNIT_POS_X as usize;
    while i < width {
        rows[plane * width + i] = O::cast_from(packed[from + i]);
        i += LANES;
    }
}

/// Σ over each head of the gradient of its output times the output, and the gradient packed as a factor.
pub fn dot_and_split(
    heads: &PaddedHeads<'_>,
    d: &Burn<2>,
    attended: &Burn<2>,
    half: bool,
) -> Option<(Burn<3>, Burn<3>)> {
    let (tokens, (shape, ..)) = (heads.tokens(), heads.constants());
    let (kv, group, width) = (shape.kv_heads, shape.group, shape.width);
    let (d, attended) = (given(d)?, given(attended)?);
    let pairs = tokens / heads.width() * kv;
    let dots = fresh(&d, [pairs, heads.width() * group, 1], DType::F32);
    let packed = fresh(&d, [pairs, heads.width() * group, width], factor(half));
    let (count, dim) = by_row(tokens * kv * group);
    let elements = [element(&attended), element(&packed)];
    dot_and_split_kernel::launch(
        &dots.client,
        count,
        dim,
        d.into_tensor_arg(),
        attended.into_tensor_arg(),
        dots.clone().into_tensor_arg(),
        packed.clone().into_tensor_arg(),
        tokens,
        heads.width(),
        kv,
        group,
        width,
        elements,
    );
    Some((taken(dots), taken(packed)))
}

#[cube(launch)]
fn dot_and_split_kernel<I: Float, O: Float>(
    d: &Tensor<f32>,
    attended: &Tensor<I>,
    dots: &mut Tensor<f32>,
    packed: &mut Tensor<O>,
    tokens: usize,
    length: usize,
    kv: usize,
    group: usize,
    width: usize,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let plane = (CUBE_POS_X * CUBE_DIM_Y + UNIT_POS_Y) as usize;
    let queries = kv * group;
    if plane >= tokens * queries {
        terminate!();
    }
    let token = plane / queries;
    let head = plane % queries;
    let key = token / length * kv + head / group;
    let row = (key * length + token % length) * group + head % group;
    let mut dot = f32::new(0.0);
    let mut i = UNIT_POS_X as usize;
    while i < width {
        let v = d[plane * width + i];
        dot += v * f32::cast_from(attended[plane * width + i]);
        packed[row * width + i] = O::cast_from(v);
        i += LANES;
    }
    let dot = plane_sum(dot);
    if UNIT_POS_X == 0 {
        dots[row] = dot;
    }
}
