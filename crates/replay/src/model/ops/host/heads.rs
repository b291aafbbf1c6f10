//! Queries, keys and values of a pack between rows of tokens and the order of attention.

use burn::tensor::{Device, Tensor};

use super::super::blocks::Span;
use super::super::heads::{HeadNorms, HeadShape, Heads, Packed};
use super::buffer::{Buffer, wrap};
use super::copies;
use super::rotary::{self, Part};

/// Normalises, turns and packs rows; returns the rows again.
pub fn pack(
    device: &Device,
    qkv: Tensor<2>,
    heads: &Heads,
    spans: &[Span],
    norms: HeadNorms<&Tensor<2>>,
) -> (Tensor<2>, Packed) {
    let mut packed = Packed { q: vec![], k: vec![], v: vec![] };
    let norms = norms.map(|(q, k)| [Buffer::take(q.clone()), Buffer::take(k.clone())]);
    let qkv = Buffer::take(qkv);
    let row = heads.shape.row();
    for span in spans {
        let part = |index: usize, first: usize, tokens: usize| {
            let rows = &qkv[(span.row + first) * row..(span.row + first + tokens) * row];
            let part = host_part(heads, index, norms.as_ref(), first, tokens);
            let shape = [heads.shape.kv_heads, tokens * part.heads, heads.shape.width];
            wrap(rotary::forward(rows, heads.shape, part), shape, device)
        };
        packed.q.extend(span.blocks().map(|block| part(0, block.start, block.len())));
        packed.k.push(part(1, 0, span.tokens));
        packed.v.push(part(2, 0, span.tokens));
    }
    (qkv.give(device), packed)
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
    let shape = qkv.dims();
    let norms = norms.map(|(q, k)| [Buffer::take(q.clone()), Buffer::take(k.clone())]);
    let qkv = Buffer::take(qkv);
    let mut d_qkv = vec![0.0; qkv.len()];
    let mut d_norms = [vec![0.0; heads.shape.width], vec![0.0; heads.shape.width], vec![]];
    let row = heads.shape.row();
    let Packed { q, k, v } = gradient;
    let (mut q, mut k, mut v) = (q.into_iter(), k.into_iter(), v.into_iter());
    for span in spans {
        let mut part = |index: usize, first: usize, tokens: usize, d: Option<Tensor<3>>| {
            let rows = (span.row + first) * row..(span.row + first + tokens) * row;
            let part = host_part(heads, index, norms.as_ref(), first, tokens);
            if let Some(mut d) = d.map(Buffer::take) {
                let (x, dx) = (&qkv[rows.clone()], &mut d_qkv[rows]);
                rotary::backward(&mut d, x, dx, heads.shape, part, &mut d_norms[index]);
            }
        };
        for block in span.blocks() {
            part(0, block.start, block.len(), q.next());
        }
        part(1, 0, span.tokens, k.next());
        part(2, 0, span.tokens, v.next());
    }
    let [q_norm, k_norm, _] = d_norms;
    let d_norms = norms.map(|_| {
        let width = heads.shape.width;
        (wrap(q_norm, [1, width], device), wrap(k_norm, [1, width], device))
    });
    (wrap(d_qkv, shape, device), d_norms)
}

/// Rows of tokens → per block [key head, token × head, width].
pub fn split(device: &Device, rows: Tensor<2>, heads: &Heads, spans: &[Span]) -> Vec<Tensor<3>> {
    let HeadShape { kv_heads, group, width } = heads.shape;
    let rows = Buffer::take(rows);
    let blocks = spans.iter().flat_map(|span| span.blocks().map(|b| (span.row + b.start, b.len())));
    let pack = |(first, tokens)| {
        let values = copies::pack(&rows, first, tokens, kv_heads, group * width);
        wrap(values, [kv_heads, tokens * group, width], device)
    };
    blocks.map(pack).collect()
}

/// The way back of [`split`].
pub fn join(device: &Device, blocks: Vec<Tensor<3>>, heads: &Heads) -> Tensor<2> {
    let HeadShape { kv_heads, group, width } = heads.shape;
    let chunk = group * width;
    let tokens = |block: &Tensor<3>| block.dims()[1] / group;
    let total: usize = blocks.iter().map(tokens).sum();
    let mut rows = vec![0.0; total * kv_heads * chunk];
    let mut first = 0;
    for block in blocks {
        let count = tokens(&block);
        copies::unpack(&Buffer::take(block), &mut rows, first, kv_heads, chunk);
        first += count;
    }
    wrap(rows, [total, kv_heads * chunk], device)
}

fn host_part<'a>(
    heads: &'a Heads,
    index: usize,
    norms: Option<&'a [Buffer; 2]>,
    first: usize,
    tokens: usize,
) -> Part<'a> {
    let part = heads.parts()[index];
    let norm = norms.and_then(|norms| norms.get(index)).map(|weight| (&**weight, heads.eps as f32));
    let angles = part.turned.then(|| heads.angles(first, tokens));
    Part { offset: part.offset, heads: part.per_key, norm, angles }
}
