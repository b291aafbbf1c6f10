//! The gate of the feed-forward part: silu(gate) · up.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;

use super::Place;
use super::host::buffer::{Buffer, wrap};
use super::host::mlp as fused;

impl Place {
    /// Returns gate and up again, for the way back, and the activation.
    pub(in super::super) fn gate(&self, gate_up: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let [rows, columns] = gate_up.dims();
        let inner = columns / 2;
        if self.host {
            let gate_up = Buffer::take(gate_up);
            let mut act = vec![0.0; rows * inner];
            fused::forward(&gate_up, inner, &mut act);
            return (gate_up.give(&self.device), wrap(act, [rows, inner], &self.device));
        }
        let (gate, up) = halves(&gate_up);
        (gate_up, gate.clone() * sigmoid(gate) * up)
    }

    /// The activation again, and the gradient with respect to gate and up.
    pub(in super::super) fn gate_backward(
        &self,
        gate_up: Tensor<2>,
        d_act: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let inner = gate_up.dims()[1] / 2;
        if self.host {
            let (mut gate_up, mut d_act) = (Buffer::take(gate_up), Buffer::take(d_act));
            fused::backward(&mut gate_up, inner, &mut d_act);
            return (d_act.give(&self.device), gate_up.give(&self.device));
        }
        let (gate, up) = halves(&gate_up);
        let s = sigmoid(gate.clone());
        let silu = gate.clone() * s.clone();
        let d_up = d_act.clone() * silu.clone();
        let d_gate = d_act * up.clone() * (s.clone() + s * (gate - silu.clone()));
        (silu * up, Tensor::cat(vec![d_gate, d_up], 1))
    }
}

fn halves(gate_up: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let [rows, columns] = gate_up.dims();
    let inner = columns / 2;
    (gate_up.clone().slice([0..rows, 0..inner]), gate_up.clone().slice([0..rows, inner..columns]))
}
