//! Queries, keys and values of a pack, in the order that attention multiplies in.

use burn::tensor::{Tensor, TensorData};

use super::super::config::ModelConfig;
use super::super::rope::RotaryTable;
use super::host::buffer::{Buffer, wrap};
use super::host::heads as copies;
use super::host::rotary::{self, HeadShape, Part};
use super::{Place, Span};

/// The head layout of a model with the angles of its positions.
#[derive(Debug, Clone)]
pub(in super::super) struct Heads {
    shape: HeadShape,
    eps: f64,
    table: RotaryTable,
}

/// What the per-head norms are, or got as gradients.
pub(in super::super) type HeadNorms<T> = Option<(T, T)>;

/// Queries per block of a sequence, keys and values per sequence: [key head, rows, width].
#[derive(Debug, Clone)]
pub(in super::super) struct Packed {
    pub(in super::super) q: Vec<Tensor<3>>,
    pub(in super::super) k: Vec<Tensor<3>>,
    pub(in super::super) v: Vec<Tensor<3>>,
}

impl Heads {
    pub(in super::super) fn new(config: &ModelConfig, positions: usize) -> Self {
        Self {
            shape: HeadShape { kv_heads: config.kv_heads, group: config.group(), width: config.head_dim },
            eps: config.rms_norm_eps,
            table: RotaryTable::new(config, positions),
        }
    }

    pub(in super::super) fn group(&self) -> usize {
        self.shape.group
    }

    pub(in super::super) fn scale(&self) -> f64 {
        1.0 / (self.shape.width as f64).sqrt()
    }

    /// The three parts of a row: first column, heads per key head, whether positions turn it.
    fn parts(&self) -> [(usize, usize, bool); 3] {
        let HeadShape { kv_heads, group, width } = self.shape;
        let keys = kv_heads * group * width;
        [(0, group, true), (keys, 1, true), (keys + kv_heads * width, 1, false)]
    }

    fn angles(&self, first: usize, tokens: usize) -> (&[f32], &[f32]) {
        let rows = first * self.table.half..(first + tokens) * self.table.half;
        (&self.table.cos[rows.clone()], &self.table.sin[rows])
    }
}

impl Place {
    /// Normalises, turns and packs rows of queries, keys and values; returns the rows again.
    pub(in super::super) fn pack_heads(
        &self,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, Packed) {
        let mut packed = Packed { q: vec![], k: vec![], v: vec![] };
        if !self.host {
            for span in spans {
                let part = |index, first, tokens| {
                    self.pack_part(&qkv, heads, index, span.row + first, first, tokens, norms)
                };
                packed.q.extend(span.blocks().map(|block| part(0, block.start, block.len())));
                packed.k.push(part(1, 0, span.tokens));
                packed.v.push(part(2, 0, span.tokens));
            }
            return (qkv, packed);
        }
        let norms = norms.map(|(q, k)| [Buffer::take(q.clone()), Buffer::take(k.clone())]);
        let qkv = Buffer::take(qkv);
        let row = heads.shape.row();
        for span in spans {
            let part = |index: usize, first: usize, tokens: usize| {
                let rows = &qkv[(span.row + first) * row..(span.row + first + tokens) * row];
                let part = host_part(heads, index, norms.as_ref(), first, tokens);
                let shape = [heads.shape.kv_heads, tokens * part.heads, heads.shape.width];
                wrap(rotary::forward(rows, heads.shape, part), shape, &self.device)
            };
            packed.q.extend(span.blocks().map(|block| part(0, block.start, block.len())));
            packed.k.push(part(1, 0, span.tokens));
            packed.v.push(part(2, 0, span.tokens));
        }
        (qkv.give(&self.device), packed)
    }

    /// Gradient of packed heads with respect to the rows, and to the per-head norms.
    pub(in super::super) fn pack_heads_backward(
        &self,
        gradient: Packed,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, HeadNorms<Tensor<2>>) {
        if !self.host {
            return self.pack_heads_backward_by_tensors(gradient, qkv, heads, spans, norms);
        }
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
            (wrap(q_norm, [1, width], &self.device), wrap(k_norm, [1, width], &self.device))
        });
        (wrap(d_qkv, shape, &self.device), d_norms)
    }

    /// Rows of tokens [tokens, heads × width] → per block [key head, token × head, width].
    pub(in super::super) fn split_heads(
        &self,
        rows: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
    ) -> Vec<Tensor<3>> {
        let HeadShape { kv_heads, group, width } = heads.shape;
        let blocks = spans.iter().flat_map(|span| span.blocks().map(|b| (span.row + b.start, b.len())));
        if self.host {
            let rows = Buffer::take(rows);
            let pack = |(first, tokens)| {
                let values = copies::pack(&rows, first, tokens, kv_heads, group * width);
                wrap(values, [kv_heads, tokens * group, width], &self.device)
            };
            return blocks.map(pack).collect();
        }
        let columns = rows.dims()[1];
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

    /// The way back of [`Place::split_heads`].
    pub(in super::super) fn join_heads(&self, blocks: Vec<Tensor<3>>, heads: &Heads) -> Tensor<2> {
        let HeadShape { kv_heads, group, width } = heads.shape;
        let chunk = group * width;
        let tokens = |block: &Tensor<3>| block.dims()[1] / group;
        if self.host {
            let total: usize = blocks.iter().map(tokens).sum();
            let mut rows = vec![0.0; total * kv_heads * chunk];
            let mut first = 0;
            for block in blocks {
                let count = tokens(&block);
                copies::unpack(&Buffer::take(block), &mut rows, first, kv_heads, chunk);
                first += count;
            }
            return wrap(rows, [total, kv_heads * chunk], &self.device);
        }
        let join = |block: Tensor<3>| {
            let count = tokens(&block);
            block.reshape([kv_heads, count, chunk]).swap_dims(0, 1).reshape([count, kv_heads * chunk])
        };
        Tensor::cat(blocks.into_iter().map(join).collect(), 0)
    }

    /// One part of some rows, by tensor operations.
    #[allow(clippy::too_many_arguments)]
    fn pack_part(
        &self,
        qkv: &Tensor<2>,
        heads: &Heads,
        index: usize,
        row: usize,
        position: usize,
        tokens: usize,
        norms: HeadNorms<&Tensor<2>>,
    ) -> Tensor<3> {
        let HeadShape { kv_heads, width, .. } = heads.shape;
        let (offset, per_key, turned) = heads.parts()[index];
        let columns = kv_heads * per_key * width;
        let x = qkv.clone().slice([row..row + tokens, offset..offset + columns]);
        let mut x = x.reshape([tokens * kv_heads * per_key, width]);
        if let (0 | 1, Some((q, k))) = (index, norms) {
            x = self.norm(x, if index == 0 { q } else { k }, heads.eps).1;
        }
        let x: Tensor<3> = x.reshape([tokens, kv_heads * per_key, width]);
        let x = if turned { self.turn(x, heads, position, false) } else { x };
        x.reshape([tokens, kv_heads, per_key * width]).swap_dims(0, 1).reshape([
            kv_heads,
            tokens * per_key,
            width,
        ])
    }

    fn pack_heads_backward_by_tensors(
        &self,
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
                if turned { self.turn(d, heads, first, true) } else { d }
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
            let (offset, per_key, _) = heads.parts()[index];
            let count = kv_heads * per_key;
            let mut d: Tensor<2> = Tensor::cat(parts, 0).reshape([tokens * count, width]);
            if let (0 | 1, Some((q, k))) = (index, norms) {
                let x = qkv.clone().slice([0..tokens, offset..offset + count * width]);
                let weight = if index == 0 { q } else { k };
                let (dx, dw) =
                    self.norm_backward(d, x.reshape([tokens * count, width]), weight, heads.eps, None);
                d = dx;
                d_norms.push(dw);
            }
            columns.push(d.reshape([tokens, count * width]));
        }
        let mut d_norms = d_norms.into_iter();
        (Tensor::cat(columns, 1), d_norms.next().zip(d_norms.next()))
    }

    /// Turns heads [tokens, heads, width] by their positions, or back.
    fn turn(&self, x: Tensor<3>, heads: &Heads, first: usize, back: bool) -> Tensor<3> {
        let [tokens, count, width] = x.dims();
        let half = width / 2;
        let (cos, sin) = heads.angles(first, tokens);
        let angles = |values: &[f32], sign: f32| -> Tensor<3> {
            let values: Vec<f32> = values.iter().map(|v| v * sign).collect();
            Tensor::from_data(TensorData::new(values, [tokens, 1, half]), &self.device)
        };
        let (cos, sin) = (angles(cos, 1.0), angles(sin, if back { -1.0 } else { 1.0 }));
        let a = x.clone().slice([0..tokens, 0..count, 0..half]);
        let b = x.slice([0..tokens, 0..count, half..width]);
        let first = a.clone() * cos.clone() - b.clone() * sin.clone();
        Tensor::cat(vec![first, b * cos + a * sin], 2)
    }
}

fn host_part<'a>(
    heads: &'a Heads,
    index: usize,
    norms: Option<&'a [Buffer; 2]>,
    first: usize,
    tokens: usize,
) -> Part<'a> {
    let (offset, per_key, turned) = heads.parts()[index];
    let norm = norms.and_then(|norms| norms.get(index)).map(|weight| (&**weight, heads.eps as f32));
    Part { offset, heads: per_key, norm, angles: turned.then(|| heads.angles(first, tokens)) }
}
