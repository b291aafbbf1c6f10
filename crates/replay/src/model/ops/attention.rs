//! Causal attention of one sequence, in blocks of queries: a block meets only the keys up to its end,
//! so half of the scores are never computed and long sequences never need all of them at once.

use std::ops::Range;

use burn::tensor::Tensor;

use super::blocks::Causal;
use super::compute::Compute;

/// Queries of a block with the keys and values it may see.
pub struct Block<'a> {
    pub q: &'a Tensor<3>,
    pub k: &'a Tensor<3>,
    pub v: &'a Tensor<3>,
    /// Positions of the queries.
    pub queries: Range<usize>,
    /// Query heads per key head.
    pub group: usize,
    pub scale: f64,
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

impl Compute {
    /// Attention probabilities: [key head, query × head, keys].
    pub fn probabilities(&self, block: &Block<'_>) -> Tensor<3> {
        let scores = self.product(block.q.clone(), block.seen(block.k).swap_dims(1, 2));
        self.kernels.softmax(scores, block.causal(), block.scale)
    }

    /// What the queries of a block take from the values.
    pub fn attend(&self, block: &Block<'_>, probabilities: Tensor<3>) -> Tensor<3> {
        self.product(probabilities, block.seen(block.v))
    }

    /// Gradients with respect to the block's queries, and to the keys and values it saw.
    pub fn attend_backward(
        &self,
        block: &Block<'_>,
        probabilities: Tensor<3>,
        d_out: Tensor<3>,
    ) -> [Tensor<3>; 3] {
        let dv = self.product(probabilities.clone().swap_dims(1, 2), d_out.clone());
        let dp = self.product(d_out, block.seen(block.v).swap_dims(1, 2));
        let ds = self.kernels.softmax_backward(dp, probabilities, block.causal(), block.scale);
        let dq = self.product(ds.clone(), block.seen(block.k));
        let dk = self.product(ds.swap_dims(1, 2), block.q.clone());
        [dq, dk, dv]
    }

    /// Adds a block's gradient of keys or values to the sequence's.
    pub fn add_seen(&self, sum: Option<Tensor<3>>, part: Tensor<3>) -> Tensor<3> {
        match sum {
            None => part,
            Some(sum) => self.kernels.add_prefix(sum, part),
        }
    }
}
