//! From logits to what is measured of a token, and the gradient of Σ c ln π with respect to them.

use burn::tensor::activation::log_softmax;
use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};

use super::super::host_values;
use super::super::sequence::TokenStats;
use super::Place;
use super::host::buffer::Buffer;
use super::host::logits as fused;

impl Place {
    /// π of every row, and what is measured for the chosen tokens.
    pub(in super::super) fn distributions(
        &self,
        logits: Tensor<2>,
        targets: &[u32],
    ) -> (Tensor<2>, TokenStats) {
        let [rows, vocabulary] = logits.dims();
        if self.host {
            let mut logits = Buffer::take(logits);
            let stats = fused::forward(&mut logits, vocabulary, targets);
            return (logits.give(&self.device), stats);
        }
        let chosen = self.indices(targets, rows);
        let log_pi = log_softmax(logits, 1);
        let pi = log_pi.clone().exp();
        let weighted = pi.clone() * log_pi.clone();
        let squares = pi.clone().square();
        let others = pi.clone().scatter(
            1,
            chosen.clone(),
            pi.clone().gather(1, chosen.clone()).neg(),
            IndexingUpdateOp::Add,
        );
        let mass = others.clone().sum_dim(1);
        let stats = TokenStats {
            logprob: host_values(&log_pi.clone().gather(1, chosen)),
            entropy: host_values(&weighted.sum_dim(1).neg()),
            sum_pi_sq: host_values(&squares.clone().sum_dim(1)),
            sum_pi_sq_log_pi: host_values(&(squares * log_pi).sum_dim(1)),
            logit_grad_sq: host_values(&(others.square().sum_dim(1) + mass.square())),
        };
        (pi, stats)
    }

    /// c (onehot − π).
    pub(in super::super) fn logit_gradient(&self, pi: Tensor<2>, targets: &[u32], c: &[f32]) -> Tensor<2> {
        let [rows, vocabulary] = pi.dims();
        if self.host {
            let mut pi = Buffer::take(pi);
            fused::backward(&mut pi, vocabulary, targets, c);
            return pi.give(&self.device);
        }
        let c: Tensor<2> = Tensor::from_data(TensorData::new(c.to_vec(), [rows, 1]), &self.device);
        (pi * c.clone().neg()).scatter(1, self.indices(targets, rows), c, IndexingUpdateOp::Add)
    }

    fn indices(&self, targets: &[u32], rows: usize) -> Tensor<2, Int> {
        let indices: Vec<i32> = targets.iter().map(|t| *t as i32).collect();
        Tensor::from_data(TensorData::new(indices, [rows, 1]), &self.device)
    }
}
