//! One layer: x₂ = x + attention(norm(x)), then x₂ + feed-forward(norm(x₂)); and its gradient.

use burn::tensor::Tensor;

use super::adapter::{self, Multiply};
use super::gradients::Gradients;
use super::layout::LayerSlots;
use super::ops::{Block, Compute, Heads, Packed, Span};
use super::policy::Policy;

/// Scores of a layer that are kept for the way back (a quarter gibibyte).
const KEPT_SCORES: usize = 1 << 26;

/// What a pack is to a layer.
pub(super) struct Scene<'a> {
    pub(super) compute: &'a Compute,
    pub(super) policy: &'a Policy,
    pub(super) heads: &'a Heads,
    pub(super) spans: &'a [Span],
}

/// What the way back needs.
pub(super) struct LayerTape {
    x: Tensor<2>,
    attention_input: Tensor<2>,
    qkv: Tensor<2>,
    packed: Packed,
    /// None where they would be too large: they are computed again.
    probabilities: Vec<Option<Tensor<3>>>,
    attended: Tensor<2>,
    middle: Tensor<2>,
    mlp_input: Tensor<2>,
    gate_up: Tensor<2>,
}

impl Scene<'_> {
    /// The layer's output; its tape where one is wanted.
    pub(super) fn forward(
        &self,
        slots: &LayerSlots,
        x: Tensor<2>,
        keep: bool,
    ) -> (Tensor<2>, Option<LayerTape>) {
        let (compute, eps) = (self.compute, self.policy.config.rms_norm_eps);
        let (x, attention_input) = compute.kernels.norm(x, self.weight(slots.input_norm), eps);
        let qkv = self.linear(attention_input.clone(), slots.qkv, slots.qkv_bias);
        let (qkv, packed) = compute.kernels.pack_heads(qkv, self.heads, self.spans, self.head_norms(slots));
        let keep_probabilities = keep && self.scores() <= KEPT_SCORES;
        let (mut probabilities, mut outputs) = (vec![], vec![]);
        for block in self.blocks(&packed) {
            let p = compute.probabilities(&block);
            outputs.push(compute.attend(&block, p.clone()));
            probabilities.push(keep_probabilities.then_some(p));
        }
        let attended = compute.kernels.join_heads(outputs, self.heads);
        let middle = x.clone() + self.linear(attended.clone(), slots.output, slots.output_bias);
        let (middle, mlp_input) = compute.kernels.norm(middle, self.weight(slots.mlp_norm), eps);
        let gate_up = self.linear(mlp_input.clone(), slots.gate_up, slots.gate_up_bias);
        let (gate_up, act) = compute.kernels.gate(gate_up);
        let out = middle.clone() + self.linear(act, slots.down, slots.down_bias);
        let tape = keep.then(|| LayerTape {
            x,
            attention_input,
            qkv,
            packed,
            probabilities,
            attended,
            middle,
            mlp_input,
            gate_up,
        });
        (out, tape)
    }

    /// Gradient with respect to the layer's input, from that of its output.
    pub(super) fn backward(
        &self,
        slots: &LayerSlots,
        tape: LayerTape,
        d_out: Tensor<2>,
        gradients: &mut Gradients,
    ) -> Tensor<2> {
        let (compute, eps) = (self.compute, self.policy.config.rms_norm_eps);
        let d_act = self.input_gradient(&d_out, slots.down);
        let (act, d_gate_up) = compute.kernels.gate_backward(tape.gate_up, d_act);
        self.add_linear(gradients, slots.down, slots.down_bias, &d_out, act);
        let d_mlp = self.input_gradient(&d_gate_up, slots.gate_up);
        self.add_linear(gradients, slots.gate_up, slots.gate_up_bias, &d_gate_up, tape.mlp_input);
        drop(d_gate_up);
        let weight = self.weight(slots.mlp_norm);
        let (d_middle, d_weight) =
            compute.kernels.norm_backward(d_mlp, tape.middle, weight, eps, Some(d_out));
        gradients.add_at(slots.mlp_norm, d_weight);

        let d_attended = self.input_gradient(&d_middle, slots.output);
        self.add_linear(gradients, slots.output, slots.output_bias, &d_middle, tape.attended);
        let d_packed = self.attention_backward(tape.packed, tape.probabilities, d_attended);
        let norms = self.head_norms(slots);
        let (d_qkv, d_norms) =
            compute.kernels.pack_heads_backward(d_packed, tape.qkv, self.heads, self.spans, norms);
        if let (Some(q), Some(k), Some((dq, dk))) = (slots.q_norm, slots.k_norm, d_norms) {
            gradients.add_at(q, dq);
            gradients.add_at(k, dk);
        }
        let d_input = self.input_gradient(&d_qkv, slots.qkv);
        self.add_linear(gradients, slots.qkv, slots.qkv_bias, &d_qkv, tape.attention_input);
        let weight = self.weight(slots.input_norm);
        let (d_x, d_weight) = compute.kernels.norm_backward(d_input, tape.x, weight, eps, Some(d_middle));
        gradients.add_at(slots.input_norm, d_weight);
        d_x
    }

    fn attention_backward(
        &self,
        packed: Packed,
        probabilities: Vec<Option<Tensor<3>>>,
        d_out: Tensor<2>,
    ) -> Packed {
        let d_blocks = self.compute.kernels.split_heads(d_out, self.heads, self.spans);
        let mut gradient = Packed { q: vec![], k: vec![], v: vec![] };
        let (mut dk_sum, mut dv_sum) = (None, None);
        let mut work: Vec<_> = self.blocks(&packed).zip(probabilities).zip(d_blocks).collect();
        // From the last block of a sequence, which saw all keys, to the first.
        while let Some(((block, p), d)) = work.pop() {
            let first = block.queries.start == 0;
            let p = p.unwrap_or_else(|| self.compute.probabilities(&block));
            let [dq, dk, dv] = self.compute.attend_backward(&block, p, d);
            gradient.q.push(dq);
            let (dk, dv) =
                (self.compute.add_seen(dk_sum.take(), dk), self.compute.add_seen(dv_sum.take(), dv));
            if first {
                gradient.k.push(dk);
                gradient.v.push(dv);
            } else {
                (dk_sum, dv_sum) = (Some(dk), Some(dv));
            }
        }
        for list in [&mut gradient.q, &mut gradient.k, &mut gradient.v] {
            list.reverse();
        }
        gradient
    }

    /// All blocks of queries of the pack, with their sequence's keys and values.
    fn blocks<'p>(&'p self, packed: &'p Packed) -> impl Iterator<Item = Block<'p>> {
        let sequences = self.spans.iter().zip(&packed.k).zip(&packed.v);
        let spread = sequences.flat_map(|((span, k), v)| span.blocks().map(move |queries| (queries, k, v)));
        spread.zip(&packed.q).map(|((queries, k, v), q)| Block {
            q,
            k,
            v,
            queries,
            group: self.heads.group(),
            scale: self.heads.scale(),
        })
    }

    /// Attention scores of a layer.
    fn scores(&self) -> usize {
        self.spans.iter().map(|s| self.policy.config.heads * s.tokens * s.tokens).sum()
    }

    fn weight(&self, slot: usize) -> &Tensor<2> {
        &self.policy.parameters[slot]
    }

    fn head_norms(&self, slots: &LayerSlots) -> Option<(&Tensor<2>, &Tensor<2>)> {
        slots.q_norm.zip(slots.k_norm).map(|(q, k)| (self.weight(q), self.weight(k)))
    }

    fn linear(&self, x: Tensor<2>, weight: usize, bias: Option<usize>) -> Tensor<2> {
        let y = self.compute.product(x.clone(), self.weight(weight).clone().transpose());
        let y = adapter::added(self, &self.policy.layout, weight, &x, y);
        if let Some(bias) = bias { y + self.weight(bias).clone() } else { y }
    }

    /// Of y = x Wᵀ + b: dx = dy W.
    fn input_gradient(&self, dy: &Tensor<2>, weight: usize) -> Tensor<2> {
        let dx = self.compute.product(dy.clone(), self.weight(weight).clone());
        adapter::input_gradient(self, &self.policy.layout, weight, dy, dx)
    }

    /// dW = dyᵀ x, db = Σ dy, where they are trained.
    fn add_linear(
        &self,
        gradients: &mut Gradients,
        weight: usize,
        bias: Option<usize>,
        dy: &Tensor<2>,
        x: Tensor<2>,
    ) {
        adapter::add_gradients(self, &self.policy.layout, weight, dy, &x, gradients);
        if gradients.wants(weight) {
            gradients.add_at(weight, self.compute.product(dy.clone().transpose(), x));
        }
        if let Some(bias) = bias.filter(|bias| gradients.wants(*bias)) {
            gradients.add_at(bias, dy.clone().sum_dim(0));
        }
    }
}

impl Multiply for Scene<'_> {
    /// Products round their factors themselves.
    fn factor(&self, x: Tensor<2>) -> Tensor<2> {
        x
    }

    fn product(&self, a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
        self.compute.product(a, b)
    }

    fn parameter(&self, slot: usize) -> Tensor<2> {
        self.weight(slot).clone()
    }
}
