//! What was attended to, between the order of attention and rows of tokens: a plane for each head of each
//! token.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::super::heads::PaddedHeads;
use super::launch::{LANES, by_row};
use super::places::{packed_row, row_of_plane};
use super::tensors::{element, factor, fresh, given, taken};

/// Packed heads as rows of tokens, as a factor.
pub fn join(heads: &PaddedHeads<'_>, packed: &Burn<3>, half: bool) -> Option<Burn<2>> {
    let (tokens, shape) = (heads.tokens(), heads.heads().shape);
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
    let plane = row_of_plane();
    let queries = kv * group;
    if plane >= tokens * queries {
        terminate!();
    }
    let from = packed_row(plane / queries, plane % queries, length, kv, group) * width;
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
    let (tokens, shape) = (heads.tokens(), heads.heads().shape);
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
    let plane = row_of_plane();
    let queries = kv * group;
    if plane >= tokens * queries {
        terminate!();
    }
    let row = packed_row(plane / queries, plane % queries, length, kv, group);
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
