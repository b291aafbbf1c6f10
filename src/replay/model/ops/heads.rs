//! Queries, keys and values of a pack, in the order that attention multiplies in.

use burn::tensor::Tensor;

use super::super::config::ModelConfig;
use super::super::rope::RotaryTable;
use super::host::buffer::{Buffer, wrap};
use super::host::heads as copies;
use super::host::rotary::{self, HeadShape, Part};
use super::{Place, Span};

/// The head layout of a model with the angles of its positions.
#[derive(Debug, Clone)]
pub(in super::super) struct Heads {
    pub(super) shape: HeadShape,
    pub(super) eps: f64,
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
    pub(super) fn parts(&self) -> [(usize, usize, bool); 3] {
        let HeadShape { kv_heads, group, width } = self.shape;
        let keys = kv_heads * group * width;
        [(0, group, true), (keys, 1, true), (keys + kv_heads * width, 1, false)]
    }

    pub(super) fn angles(&self, first: usize, tokens: usize) -> (&[f32], &[f32]) {
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
        if !self.host {
            let packed = self.pack_heads_by_tensors(&qkv, heads, spans, norms);
            return (qkv, packed);
        }
        let mut packed = Packed { q: vec![], k: vec![], v: vec![] };
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
