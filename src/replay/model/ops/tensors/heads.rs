//! Queries, keys and values of a pack between rows of tokens and the order of attention.

use std::ops::Range;

use burn::tensor::{Device, Tensor, TensorData};

use super::super::blocks::Span;
use super::super::heads::{HeadNorms, HeadPart, HeadShape, Heads, Packed};
use super::norm;

/// Normalises, turns and packs rows.
pub fn pack(
    device: &Device,
    qkv: &Tensor<2>,
    heads: &Heads,
    spans: &[Span],
    norms: HeadNorms<&Tensor<2>>,
) -> Packed {
    let mut packed = Packed { q: vec![], k: vec![], v: vec![] };
    for span in spans {
        let part = |index, tokens| pack_part(device, qkv, heads, index, *span, tokens, norms);
        packed.q.extend(span.blocks().map(|block| part(0, block)));
        packed.k.push(part(1, 0..span.tokens));
        packed.v.push(part(2, 0..span.tokens));
    }
    packed
}

/// One part of some tokens of a sequence.
fn pack_part(
    device: &Device,
    qkv: &Tensor<2>,
    heads: &Heads,
    index: usize,
    span: Span,
    range: Range<usize>,
    norms: HeadNorms<&Tensor<2>>,
) -> Tensor<3> {
    let (row, tokens, position) = (span.row + range.start, range.len(), range.start);
    let HeadShape { kv_heads, width, .. } = heads.shape;
    let HeadPart { offset, per_key, turned } = heads.parts()[index];
    let columns = kv_heads * per_key * width;
    let x = qkv.clone().slice([row..row + tokens, offset..offset + columns]);
    let mut x = x.reshape([tokens * kv_heads * per_key, width]);
    if let (0 | 1, Some((q, k))) = (index, norms) {
        x = norm::forward(x, if index == 0 { q } else { k }, heads.eps);
    }
    let x: Tensor<3> = x.reshape([tokens, kv_heads * per_key, width]);
    let x = if turned { turn(device, x, heads, position, false) } else { x };
    x.reshape([tokens, kv_heads, per_key * width]).swap_dims(0, 1).reshape([
        kv_heads,
        tokens * per_key,
        width,
    ])
}

/// Gradient of packed heads with respect to the rows, and to the per-head norms.
pub fn pack_backward(
    device: &Device,
    gradient: Packed,
    qkv: Tensor<2>,
    heads: &Heads,
    spans: &[Span],
    norms: HeadNorms<&Tensor<2>>,
) -> (Tensor<2>, HeadNorms<Tensor<2>>) {
    let HeadShape { kv_heads, width, .. } = heads.shape;
    let mut q = gradient.q.into_iter();
    let mut rest = gradient.k.into_iter().zip(gradient.v);
    let mut sequences: [Vec<Tensor<3>>; 3] = Default::default();
    for span in spans {
        let count = span.blocks().count();
        let unpacked = |d: Tensor<3>, per_key: usize, first: usize, turned: bool| {
            let tokens = d.dims()[1] / per_key;
            let d = d.reshape([kv_heads, tokens, per_key * width]).swap_dims(0, 1);
            let d: Tensor<3> = d.reshape([tokens, kv_heads * per_key, width]);
            if turned { turn(device, d, heads, first, true) } else { d }
        };
        let blocks: Vec<_> = q.by_ref().take(count).collect();
        for (d, block) in blocks.into_iter().zip(span.blocks()) {
            sequences[0].push(unpacked(d, heads.shape.group, block.start, true));
        }
        if let Some((k, v)) = rest.next() {
            sequences[1].push(unpacked(k, 1, 0, true));
            sequences[2].push(unpacked(v, 1, 0, false));
        }
    }
    let tokens = qkv.dims()[0];
    let mut d_norms = vec![];
    let mut columns = vec![];
    for (index, parts) in sequences.into_iter().enumerate() {
        let HeadPart { offset, per_key, .. } = heads.parts()[index];
        let count = kv_heads * per_key;
        let mut d: Tensor<2> = Tensor::cat(parts, 0).reshape([tokens * count, width]);
        if let (0 | 1, Some((q, k))) = (index, norms) {
            let x = qkv.clone().slice([0..tokens, offset..offset + count * width]);
            let weight = if index == 0 { q } else { k };
            let (dx, dw) = norm::backward(d, x.reshape([tokens * count, width]), weight, heads.eps, None);
            d = dx;
            d_norms.push(dw);
        }
        columns.push(d.reshape([tokens, count * width]));
    }
    let mut d_norms = d_norms.into_iter();
    (Tensor::cat(columns, 1), d_norms.next().zip(d_norms.next()))
}

/// Turns heads [tokens, heads, width] by their positions, or back.
fn turn(device: &Device, x: Tensor<3>, heads: &Heads, first: usize, back: bool) -> Tensor<3> {
    let [tokens, count, width] = x.dims();
    let half = width / 2;
    let (cos, sin) = heads.angles(first, tokens);
    let angles = |values: &[f32], sign: f32| -> Tensor<3> {
        let values: Vec<f32> = values.iter().map(|v| v * sign).collect();
        Tensor::from_data(TensorData::new(values, [tokens, 1, half]), device)
    };
    let (cos, sin) = (angles(cos, 1.0), angles(sin, if back { -1.0 } else { 1.0 }));
    let a = x.clone().slice([0..tokens, 0..count, 0..half]);
    let b = x.slice([0..tokens, 0..count, half..width]);
    let first = a.clone() * cos.clone() - b.clone() * sin.clone();
    Tensor::cat(vec![first, b * cos + a * sin], 2)
}

/// Rows of tokens → per block [key head, token × head, width].
pub fn split(rows: &Tensor<2>, heads: &Heads, spans: &[Span]) -> Vec<Tensor<3>> {
    let HeadShape { kv_heads, group, width } = heads.shape;
    let columns = rows.dims()[1];
    let blocks = spans.iter().flat_map(|span| span.blocks().map(|b| (span.row + b.start, b.len())));
    let split = |(first, tokens): (usize, usize)| {
        let block = rows.clone().slice([first..first + tokens, 0..columns]);
        block.reshape([tokens, kv_heads, group * width]).swap_dims(0, 1).reshape([
            kv_heads,
            tokens * group,
            width,
        ])
    };
    blocks.map(split).collect()
}

/// The way back of [`split`].
pub fn join(blocks: Vec<Tensor<3>>, heads: &Heads) -> Tensor<2> {
    let HeadShape { kv_heads, group, width } = heads.shape;
    let chunk = group * width;
    let join = |block: Tensor<3>| {
        let count = block.dims()[1] / group;
        block.reshape([kv_heads, count, chunk]).swap_dims(0, 1).reshape([count, kv_heads * chunk])
    };
    Tensor::cat(blocks.into_iter().map(join).collect(), 0)
}
