//! Packing of heads by tensor operations, for devices with memory of their own.

use std::ops::Range;

use burn::tensor::{Tensor, TensorData};

use super::heads::{HeadNorms, Heads, Packed};
use super::host::rotary::HeadShape;
use super::{Place, Span};

impl Place {
    pub(super) fn pack_heads_by_tensors(
        &self,
        qkv: &Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> Packed {
        let mut packed = Packed { q: vec![], k: vec![], v: vec![] };
        for span in spans {
            let part = |index, tokens| self.pack_part(qkv, heads, index, *span, tokens, norms);
            packed.q.extend(span.blocks().map(|block| part(0, block)));
            packed.k.push(part(1, 0..span.tokens));
            packed.v.push(part(2, 0..span.tokens));
        }
        packed
    }

    /// One part of some tokens of a sequence.
    fn pack_part(
        &self,
        qkv: &Tensor<2>,
        heads: &Heads,
        index: usize,
        span: Span,
        range: Range<usize>,
        norms: HeadNorms<&Tensor<2>>,
    ) -> Tensor<3> {
        let (row, tokens, position) = (span.row + range.start, range.len(), range.start);
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

    pub(super) fn pack_heads_backward_by_tensors(
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
