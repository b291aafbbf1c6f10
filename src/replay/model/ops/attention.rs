//! Causal attention of one sequence, in blocks of queries: a block meets only the keys up to its end,
//! so half of the scores are never computed and long sequences never need all of them at once.

use std::ops::Range;

use burn::tensor::activation::softmax;
use burn::tensor::{Tensor, TensorData};

use super::Place;
use super::host::buffer::Buffer;
use super::host::heads::add_prefix;
use super::host::softmax::{self as fused, Causal};

/// Queries that meet their keys together.
const BLOCK: usize = 64;

/// Rows of a pack that are one sequence.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Span {
    pub(in super::super) row: usize,
    pub(in super::super) tokens: usize,
}

impl Span {
    /// Its blocks of queries.
    pub(in super::super) fn blocks(self) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone {
        (0..self.tokens.div_ceil(BLOCK)).map(move |b| b * BLOCK..((b + 1) * BLOCK).min(self.tokens))
    }
}

/// Queries of a block with the keys and values it may see.
pub(in super::super) struct Block<'a> {
    pub(in super::super) q: &'a Tensor<3>,
    pub(in super::super) k: &'a Tensor<3>,
    pub(in super::super) v: &'a Tensor<3>,
    /// Positions of the queries.
    pub(in super::super) queries: Range<usize>,
    /// Query heads per key head.
    pub(in super::super) group: usize,
    pub(in super::super) scale: f64,
}

impl Block<'_> {
    fn seen(&self, all: &Tensor<3>) -> Tensor<3> {
        let [heads, tokens, width] = all.dims();
        if self.queries.end == tokens {
            return all.clone();
        }
        all.clone().slice([0..heads, 0..self.queries.end, 0..width])
    }

    fn causal(&self) -> Causal {
        Causal {
            first: self.queries.start,
            group: self.group,
            rows: self.queries.len() * self.group,
            keys: self.queries.end,
        }
    }
}

impl Place {
    /// Attention probabilities: [key head, query × head, keys].
    pub(in super::super) fn probabilities(&self, block: &Block<'_>) -> Tensor<3> {
        let scores = self.product(block.q.clone(), block.seen(block.k).swap_dims(1, 2));
        let causal = block.causal();
        if self.host {
            let mut scores = Buffer::take(scores);
            fused::forward(&mut scores, causal, block.scale as f32);
            return scores.give(&self.device);
        }
        let mask = (0..causal.rows).flat_map(|row| {
            let visible = causal.first + row / causal.group;
            (0..causal.keys).map(move |key| if key <= visible { 0.0f32 } else { -1e30 })
        });
        let mask: Tensor<3> =
            Tensor::from_data(TensorData::new(mask.collect(), [1, causal.rows, causal.keys]), &self.device);
        softmax(scores.mul_scalar(block.scale) + mask, 2)
    }

    /// What the queries of a block take from the values.
    pub(in super::super) fn attend(&self, block: &Block<'_>, probabilities: Tensor<3>) -> Tensor<3> {
        self.product(probabilities, block.seen(block.v))
    }

    /// Gradients with respect to the block's queries, and to the keys and values it saw.
    pub(in super::super) fn attend_backward(
        &self,
        block: &Block<'_>,
        probabilities: Tensor<3>,
        d_out: Tensor<3>,
    ) -> [Tensor<3>; 3] {
        let dv = self.product(probabilities.clone().swap_dims(1, 2), d_out.clone());
        let dp = self.product(d_out, block.seen(block.v).swap_dims(1, 2));
        let ds = if self.host {
            let (mut dp, p) = (Buffer::take(dp), Buffer::take(probabilities));
            fused::backward(&mut dp, &p, block.causal(), block.scale as f32);
            dp.give(&self.device)
        } else {
            let mean = (dp.clone() * probabilities.clone()).sum_dim(2);
            (dp - mean) * probabilities.mul_scalar(block.scale)
        };
        let dq = self.product(ds.clone(), block.seen(block.k));
        let dk = self.product(ds.swap_dims(1, 2), block.q.clone());
        [dq, dk, dv]
    }

    /// Adds a block's gradient of keys or values to the sequence's.
    pub(in super::super) fn add_seen(&self, sum: Option<Tensor<3>>, part: Tensor<3>) -> Tensor<3> {
        let Some(sum) = sum else { return part };
        let [heads, tokens, width] = part.dims();
        if self.host {
            let mut sum = Buffer::take(sum);
            add_prefix(&mut sum, &Buffer::take(part), heads);
            return sum.give(&self.device);
        }
        let seen = [0..heads, 0..tokens, 0..width];
        let added = sum.clone().slice(seen.clone()) + part;
        sum.slice_assign(seen, added)
    }
}
