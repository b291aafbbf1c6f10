//! Softmax of attention scores of which every query sees a prefix of the keys.

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};

use super::super::blocks::Causal;

/// softmax(scale · scores) over the visible keys.
pub fn forward(device: &Device, scores: Tensor<3>, causal: Causal, scale: f64) -> Tensor<3> {
    let mask = (0..causal.rows).flat_map(|row| {
        let visible = causal.visible(row);
        (0..causal.keys).map(move |key| if key < visible { 0.0f32 } else { -1e30 })
    });
    let mask: Tensor<3> =
        Tensor::from_data(TensorData::new(mask.collect(), [1, causal.rows, causal.keys]), device);
    softmax(scores.mul_scalar(scale) + mask, 2)
}

/// scale · p (d − Σ p d).
pub fn backward(d: Tensor<3>, probabilities: Tensor<3>, scale: f64) -> Tensor<3> {
    let mean = (d.clone() * probabilities.clone()).sum_dim(2);
    (d - mean) * probabilities.mul_scalar(scale)
}
