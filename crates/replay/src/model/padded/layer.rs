//! One layer of a rectangle: x₂ = x + attention(norm(x)), then x₂ + feed-forward(norm(x₂)); and its
//! gradient.

use burn::tensor::Tensor;

use super::super::adapter;
use super::super::gradients::Gradients;
use super::super::layout::LayerSlots;
use super::super::policy::Policy;
use super::attention::{Attended, Blocks};
use super::heads::{PaddedHeads, PaddedQkv};
use super::products::Products;
use super::{mlp, norm};

/// What a rectangle is to a layer.
pub struct PaddedScene<'a> {
    pub policy: &'a Policy,
    pub products: &'a Products,
    pub heads: PaddedHeads<'a>,
    pub blocks: Blocks,
}

/// What the way back needs.
pub struct PaddedLayerTape {
    x: Tensor<2>,
    attention_input: Tensor<2>,
    qkv: Tensor<2>,
    packed: PaddedQkv,
    log_sums: Vec<Tensor<3>>,
    attended: Tensor<2>,
    middle: Tensor<2>,
    mlp_input: Tensor<2>,
    gate_up: Tensor<2>,
}

impl PaddedScene<'_> {
    /// The layer's output, with its tape.
    pub fn forward(&self, slots: &LayerSlots, x: Tensor<2>) -> (Tensor<2>, PaddedLayerTape) {
        let (products, eps) = (self.products, self.policy.config.rms_norm_eps);
        let attention_input = norm::as_factor(products, x.clone(), self.weight(slots.input_norm), eps);
        let qkv = self.linear(&attention_input, slots.qkv, slots.qkv_bias);
        let packed = self.heads.pack(products, &qkv, self.head_norms(slots));
        let Attended { out, log_sums } = self.blocks.forward(products, &packed);
        let attended = self.heads.join_as_factor(products, out);
        let middle = x.clone() + self.linear(&attended, slots.output, slots.output_bias);
        let mlp_input = norm::as_factor(products, middle.clone(), self.weight(slots.mlp_norm), eps);
        let gate_up = self.linear(&mlp_input, slots.gate_up, slots.gate_up_bias);
        let act = mlp::as_factor(products, &gate_up);
        let out = middle.clone() + self.linear(&act, slots.down, slots.down_bias);
        (
            out,
            PaddedLayerTape {
                x,
                attention_input,
                qkv,
                packed,
                log_sums,
                attended,
                middle,
                mlp_input,
                gate_up,
            },
        )
    }

    /// Gradient with respect to the layer's input, from that of its output.
    pub fn backward(
        &self,
        slots: &LayerSlots,
        tape: PaddedLayerTape,
        d_out: Tensor<2>,
        gradients: &mut Gradients,
    ) -> Tensor<2> {
        let (products, eps) = (self.products, self.policy.config.rms_norm_eps);
        let d_down = products.factor(d_out.clone());
        let d_act = self.input_gradient(&d_down, slots.down);
        let (act, d_gate_up) = mlp::backward_with_act(products, &tape.gate_up, d_act);
        if let Some(bias) = slots.down_bias.filter(|bias| gradients.wants(*bias)) {
            gradients.add_at(bias, d_out.clone().sum_dim(0));
        }
        self.add_gradients(gradients, slots.down, d_down, act);
        let d_mlp =
            self.linear_backward(gradients, slots.gate_up, slots.gate_up_bias, d_gate_up, tape.mlp_input);
        let weight = self.weight(slots.mlp_norm);
        let (d_middle, d_weight) = norm::backward(d_mlp, tape.middle, weight, eps, Some(d_out));
        gradients.add_at(slots.mlp_norm, d_weight);

        let d_attended = self.linear_backward(
            gradients,
            slots.output,
            slots.output_bias,
            d_middle.clone(),
            tape.attended.clone(),
        );
        let (dots, d_heads) = self.heads.dot_and_split(products, d_attended, tape.attended);
        let d_packed = self.blocks.backward(products, &tape.packed, tape.log_sums, &d_heads, &dots);
        let (d_qkv, d_norms) =
            self.heads.pack_backward(products, d_packed, &tape.qkv, self.head_norms(slots));
        if let (Some(q), Some(k), Some((dq, dk))) = (slots.q_norm, slots.k_norm, d_norms) {
            gradients.add_at(q, dq);
            gradients.add_at(k, dk);
        }
        let d_input = self.linear_backward(gradients, slots.qkv, slots.qkv_bias, d_qkv, tape.attention_input);
        let weight = self.weight(slots.input_norm);
        let (d_x, d_weight) = norm::backward(d_input, tape.x, weight, eps, Some(d_middle));
        gradients.add_at(slots.input_norm, d_weight);
        d_x
    }

    fn weight(&self, slot: usize) -> &Tensor<2> {
        &self.policy.parameters[slot]
    }

    fn head_norms(&self, slots: &LayerSlots) -> Option<(&Tensor<2>, &Tensor<2>)> {
        slots.q_norm.zip(slots.k_norm).map(|(q, k)| (self.weight(q), self.weight(k)))
    }

    fn linear(&self, x: &Tensor<2>, weight: usize, bias: Option<usize>) -> Tensor<2> {
        let y = self.products.linear(x, weight);
        let y = adapter::added(self.products, &self.policy.layout, weight, x, y);
        if let Some(bias) = bias { y + self.weight(bias).clone() } else { y }
    }

    fn linear_backward(
        &self,
        gradients: &mut Gradients,
        weight: usize,
        bias: Option<usize>,
        dy: Tensor<2>,
        x: Tensor<2>,
    ) -> Tensor<2> {
        if let Some(bias) = bias.filter(|bias| gradients.wants(*bias)) {
            gradients.add_at(bias, self.products.whole(dy.clone()).sum_dim(0));
        }
        let dy = self.products.factor(dy);
        let dx = self.input_gradient(&dy, weight);
        self.add_gradients(gradients, weight, dy, x);
        dx
    }

    /// dy W of a factor.
    fn input_gradient(&self, dy: &Tensor<2>, weight: usize) -> Tensor<2> {
        let dx = self.products.input_gradient(dy, weight);
        adapter::input_gradient(self.products, &self.policy.layout, weight, dy, dx)
    }

    /// dyᵀ x of factors, where the weight is trained.
    fn add_gradients(&self, gradients: &mut Gradients, weight: usize, dy: Tensor<2>, x: Tensor<2>) {
        adapter::add_gradients(self.products, &self.policy.layout, weight, &dy, &x, gradients);
        if gradients.wants(weight) {
            gradients.add_at(weight, self.products.product(dy.transpose(), x));
        }
    }
}
