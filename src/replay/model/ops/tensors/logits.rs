//! From logits to what is measured of a token, and the gradient of Σ c ln π with respect to them.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor, TensorData};

use super::super::super::host_values::host_values;
use super::super::super::sequence::TokenStats;

/// π of every row, and what is measured for the chosen tokens.
pub fn forward(device: &Device, logits: Tensor<2>, targets: &[u32]) -> (Tensor<2>, TokenStats) {
    let chosen = indices(device, targets);
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
pub fn backward(device: &Device, pi: Tensor<2>, targets: &[u32], c: &[f32]) -> Tensor<2> {
    let c: Tensor<2> = Tensor::from_data(TensorData::new(c.to_vec(), [targets.len(), 1]), device);
    (pi * c.clone().neg()).scatter(1, indices(device, targets), c, IndexingUpdateOp::Add)
}

fn indices(device: &Device, targets: &[u32]) -> Tensor<2, Int> {
    let indices: Vec<i32> = targets.iter().map(|t| *t as i32).collect();
    Tensor::from_data(TensorData::new(indices, [targets.len(), 1]), device)
}
