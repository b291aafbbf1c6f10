//! The gate of the feed-forward part: silu(gate) · up.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;

#[cfg(feature = "cuda")]
use super::fused;
use super::products::Products;

/// The activation.
pub fn forward(gate_up: &Tensor<2>) -> Tensor<2> {
    let (gate, up) = halves(gate_up);
    gate.clone() * sigmoid(gate) * up
}

/// The activation as a factor of products.
pub fn as_factor(products: &Products, gate_up: &Tensor<2>) -> Tensor<2> {
    #[cfg(feature = "cuda")]
    if let Some(act) = fused::gate(gate_up, products.rounds()) {
        return act;
    }
    products.factor(forward(gate_up))
}

/// The activation again, and the gradient with respect to gate and up; both are factors.
pub fn backward_with_act(
    products: &Products,
    gate_up: &Tensor<2>,
    d_act: Tensor<2>,
) -> (Tensor<2>, Tensor<2>) {
    #[cfg(feature = "cuda")]
    if let Some(both) = fused::gate_backward(gate_up, &d_act, products.rounds()) {
        return both;
    }
    (products.factor(forward(gate_up)), products.factor(backward(gate_up, d_act)))
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
