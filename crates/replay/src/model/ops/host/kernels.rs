//! The operations of a decoder with their gradients, by fused loops.

use burn::tensor::{Device, Tensor};

use super::super::super::sequence::TokenStats;
use super::super::adam_rule::AdamRule;
use super::super::blocks::{Causal, Span};
use super::super::heads::{HeadNorms, Heads, Packed};
use super::buffer::{Buffer, wrap};
use super::{copies, heads as packing, logits, mlp, norm, softmax, update};

/// Loops over the memory of tensors.
#[derive(Debug, Clone)]
pub struct HostKernels {
    device: Device,
}

impl HostKernels {
    /// For a device whose tensors are in the processor's own memory.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone() }
    }

    /// Root-mean-square norm, h = x / √(mean x² + ε) · w. Returns the input again, for the way back,
    /// and the normalised rows.
    pub fn norm(&self, x: Tensor<2>, weight: &Tensor<2>, eps: f64) -> (Tensor<2>, Tensor<2>) {
        let shape = x.dims();
        let (x, weight) = (Buffer::take(x), Buffer::take(weight.clone()));
        let mut h = vec![0.0; x.len()];
        norm::forward(&x, &weight, eps as f32, &mut h);
        (x.give(&self.device), wrap(h, shape, &self.device))
    }

    /// Its gradients with respect to input (with the `residual`'s added) and weight.
    pub fn norm_backward(
        &self,
        dy: Tensor<2>,
        x: Tensor<2>,
        weight: &Tensor<2>,
        eps: f64,
        residual: Option<Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>) {
        let (mut dy, x, weight) = (Buffer::take(dy), Buffer::take(x), Buffer::take(weight.clone()));
        let residual = residual.map(Buffer::take);
        let mut weight_gradient = vec![0.0; weight.len()];
        norm::backward(&mut dy, &x, &weight, eps as f32, residual.as_deref(), &mut weight_gradient);
        let shape = [1, weight_gradient.len()];
        (dy.give(&self.device), wrap(weight_gradient, shape, &self.device))
    }

    /// The gate of the feed-forward part, silu(gate) · up. Returns gate and up again, for the way
    /// back, and the activation.
    pub fn gate(&self, gate_up: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let [rows, columns] = gate_up.dims();
        let inner = columns / 2;
        let gate_up = Buffer::take(gate_up);
        let mut act = vec![0.0; rows * inner];
        mlp::forward(&gate_up, inner, &mut act);
        (gate_up.give(&self.device), wrap(act, [rows, inner], &self.device))
    }

    /// The activation again, and the gradient with respect to gate and up.
    pub fn gate_backward(&self, gate_up: Tensor<2>, d_act: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let inner = gate_up.dims()[1] / 2;
        let (mut gate_up, mut d_act) = (Buffer::take(gate_up), Buffer::take(d_act));
        mlp::backward(&mut gate_up, inner, &mut d_act);
        (d_act.give(&self.device), gate_up.give(&self.device))
    }

    /// Normalises, turns and packs rows of queries, keys and values; returns the rows again.
    pub fn pack_heads(
        &self,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, Packed) {
        packing::pack(&self.device, qkv, heads, spans, norms)
    }

    /// Gradient of packed heads with respect to the rows, and to the per-head norms.
    pub fn pack_heads_backward(
        &self,
        gradient: Packed,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, HeadNorms<Tensor<2>>) {
        packing::pack_backward(&self.device, gradient, qkv, heads, spans, norms)
    }

    /// Rows of tokens [tokens, heads × width] → per block [key head, token × head, width].
    pub fn split_heads(&self, rows: Tensor<2>, heads: &Heads, spans: &[Span]) -> Vec<Tensor<3>> {
        packing::split(&self.device, rows, heads, spans)
    }

    /// The way back of [`HostKernels::split_heads`].
    pub fn join_heads(&self, blocks: Vec<Tensor<3>>, heads: &Heads) -> Tensor<2> {
        packing::join(&self.device, blocks, heads)
    }

    /// softmax(scale · scores) over the keys that a row may see, zero elsewhere.
    pub fn softmax(&self, scores: Tensor<3>, causal: Causal, scale: f64) -> Tensor<3> {
        let mut scores = Buffer::take(scores);
        softmax::forward(&mut scores, causal, scale as f32);
        scores.give(&self.device)
    }

    /// Gradient with respect to the unscaled scores, from that of the probabilities.
    pub fn softmax_backward(
        &self,
        d: Tensor<3>,
        probabilities: Tensor<3>,
        causal: Causal,
        scale: f64,
    ) -> Tensor<3> {
        let (mut d, p) = (Buffer::take(d), Buffer::take(probabilities));
        softmax::backward(&mut d, &p, causal, scale as f32);
        d.give(&self.device)
    }

    /// Adds [heads, n, width] to the first n rows of every head of a sum.
    pub fn add_prefix(&self, sum: Tensor<3>, part: Tensor<3>) -> Tensor<3> {
        let heads = part.dims()[0];
        let mut sum = Buffer::take(sum);
        copies::add_prefix(&mut sum, &Buffer::take(part), heads);
        sum.give(&self.device)
    }

    /// π of every row of logits, and what is measured for the chosen tokens.
    pub fn distributions(&self, logits: Tensor<2>, targets: &[u32]) -> (Tensor<2>, TokenStats) {
        let vocabulary = logits.dims()[1];
        let mut logits = Buffer::take(logits);
        let stats = logits::forward(&mut logits, vocabulary, targets);
        (logits.give(&self.device), stats)
    }

    /// c (onehot − π), the gradient of Σ c ln π with respect to the logits.
    pub fn logit_gradient(&self, pi: Tensor<2>, targets: &[u32], c: &[f32]) -> Tensor<2> {
        let vocabulary = pi.dims()[1];
        let mut pi = Buffer::take(pi);
        logits::backward(&mut pi, vocabulary, targets, c);
        pi.give(&self.device)
    }

    /// One step of AdamW with PyTorch's rule: new parameter, first and second moment.
    pub fn adamw(
        &self,
        w: Tensor<2>,
        g: Tensor<2>,
        m: Tensor<2>,
        v: Tensor<2>,
        rule: AdamRule,
    ) -> [Tensor<2>; 3] {
        let (mut w, g) = (Buffer::take(w), Buffer::take(g));
        let (mut m, mut v) = (Buffer::take(m), Buffer::take(v));
        update::adamw(&mut w, &g, &mut m, &mut v, rule);
        [w, m, v].map(|b| b.give(&self.device))
    }
}
