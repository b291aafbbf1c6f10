//! The gate of the feed-forward part: silu(gate) · up.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;

/// The activation.
pub fn forward(gate_up: &Tensor<2>) -> Tensor<2> {
    let (gate, up) = halves(gate_up);
    gate.clone() * sigmoid(gate) * up
}

/// Gradient with respect to gate and up.
pub fn backward(gate_up: &Tensor<2>, d_act: Tensor<2>) -> Tensor<2> {
    let (gate, up) = halves(gate_up);
    let s = sigmoid(gate.clone());
    let silu = gate.clone() * s.clone();
    let d_up = d_act.clone() * silu.clone();
    let d_gate = d_act * up * (s.clone() + s * (gate - silu));
    Tensor::cat(vec![d_gate, d_up], 1)
}

fn halves(gate_up: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let [rows, columns] = gate_up.dims();
    let inner = columns / 2;
    (gate_up.clone().slice([0..rows, 0..inner]), gate_up.clone().slice([0..rows, inner..columns]))
}
