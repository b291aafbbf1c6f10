//! The kernels by tensor operations.

use burn::tensor::{Device, Tensor};

use super::super::super::sequence::TokenStats;
use super::super::blocks::{Causal, Span};
use super::super::heads::{HeadNorms, Heads, Packed};
use super::super::kernels::{AdamRule, Kernels};
use super::{heads as packing, logits, mlp, norm, softmax};

/// Operations of burn.
#[derive(Debug)]
pub struct TensorKernels {
    device: Device,
}

impl TensorKernels {
    /// For any device.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone() }
    }
}

impl Kernels for TensorKernels {
    fn norm(&self, x: Tensor<2>, weight: &Tensor<2>, eps: f64) -> (Tensor<2>, Tensor<2>) {
        let h = norm::forward(x.clone(), weight, eps);
        (x, h)
    }

    fn norm_backward(
        &self,
        dy: Tensor<2>,
        x: Tensor<2>,
        weight: &Tensor<2>,
        eps: f64,
        residual: Option<Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>) {
        norm::backward(dy, x, weight, eps, residual)
    }

    fn gate(&self, gate_up: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let act = mlp::forward(&gate_up);
        (gate_up, act)
    }

    fn gate_backward(&self, gate_up: Tensor<2>, d_act: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        mlp::backward(&gate_up, d_act)
    }

    fn pack_heads(
        &self,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, Packed) {
        let packed = packing::pack(&self.device, &qkv, heads, spans, norms);
        (qkv, packed)
    }

    fn pack_heads_backward(
        &self,
        gradient: Packed,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, HeadNorms<Tensor<2>>) {
        packing::pack_backward(&self.device, gradient, qkv, heads, spans, norms)
    }

    fn split_heads(&self, rows: Tensor<2>, heads: &Heads, spans: &[Span]) -> Vec<Tensor<3>> {
        packing::split(&rows, heads, spans)
    }

    fn join_heads(&self, blocks: Vec<Tensor<3>>, heads: &Heads) -> Tensor<2> {
        packing::join(blocks, heads)
    }

    fn softmax(&self, scores: Tensor<3>, causal: Causal, scale: f64) -> Tensor<3> {
        softmax::forward(&self.device, scores, causal, scale)
    }

    fn softmax_backward(
        &self,
        d: Tensor<3>,
        probabilities: Tensor<3>,
        _causal: Causal,
        scale: f64,
    ) -> Tensor<3> {
        softmax::backward(d, probabilities, scale)
    }

    fn add_prefix(&self, sum: Tensor<3>, part: Tensor<3>) -> Tensor<3> {
        let [heads, tokens, width] = part.dims();
        let seen = [0..heads, 0..tokens, 0..width];
        let added = sum.clone().slice(seen.clone()) + part;
        sum.slice_assign(seen, added)
    }

    fn distributions(&self, logits: Tensor<2>, targets: &[u32]) -> (Tensor<2>, TokenStats) {
        logits::forward(&self.device, logits, targets)
    }

    fn logit_gradient(&self, pi: Tensor<2>, targets: &[u32], c: &[f32]) -> Tensor<2> {
        logits::backward(&self.device, pi, targets, c)
    }

    fn adamw(
        &self,
        w: Tensor<2>,
        g: Tensor<2>,
        m: Tensor<2>,
        v: Tensor<2>,
        rule: AdamRule,
    ) -> [Tensor<2>; 3] {
        let m = m.clone() + (g.clone() - m).mul_scalar(rule.gain1);
        let v = v.mul_scalar(rule.beta2) + g.square().mul_scalar(rule.gain2);
        let size = v.clone().sqrt().div_scalar(rule.root).add_scalar(rule.eps);
        let w = w.mul_scalar(rule.keep) - m.clone().mul_scalar(rule.step) / size;
        [w, m, v]
    }

    /// A device has a queue for every thread, and burn's do not wait for each other where one updates
    /// in place what another still reads: one thread only.
    fn updates_side_by_side(&self) -> bool {
        false
    }
}
