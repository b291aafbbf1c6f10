//! What a device has to compute for a decoder and its gradient, beside products of matrices.

use burn::tensor::Tensor;

use super::super::sequence::TokenStats;
use super::blocks::{Causal, Span};
use super::heads::{HeadNorms, Heads, Packed};

/// The numbers of one step of AdamW.
#[derive(Debug, Clone, Copy)]
pub struct AdamRule {
    /// 1 − learning rate · decay.
    pub keep: f32,
    /// 1 − β₁.
    pub gain1: f32,
    /// β₂.
    pub beta2: f32,
    /// 1 − β₂.
    pub gain2: f32,
    /// Learning rate over the first moment's bias correction.
    pub step: f32,
    /// √ of the second moment's bias correction.
    pub root: f32,
    pub eps: f32,
}

/// The operations of a decoder, each with its gradient.
pub trait Kernels: std::fmt::Debug + Send + Sync {
    /// Root-mean-square norm, h = x / √(mean x² + ε) · w. Returns the input again, for the way back,
    /// and the normalised rows.
    fn norm(&self, x: Tensor<2>, weight: &Tensor<2>, eps: f64) -> (Tensor<2>, Tensor<2>);

    /// Its gradients with respect to input (with the `residual`'s added) and weight.
    fn norm_backward(
        &self,
        dy: Tensor<2>,
        x: Tensor<2>,
        weight: &Tensor<2>,
        eps: f64,
        residual: Option<Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>);

    /// The gate of the feed-forward part, silu(gate) · up. Returns gate and up again, for the way
    /// back, and the activation.
    fn gate(&self, gate_up: Tensor<2>) -> (Tensor<2>, Tensor<2>);

    /// The activation again, and the gradient with respect to gate and up.
    fn gate_backward(&self, gate_up: Tensor<2>, d_act: Tensor<2>) -> (Tensor<2>, Tensor<2>);

    /// Normalises, turns and packs rows of queries, keys and values; returns the rows again.
    fn pack_heads(
        &self,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, Packed);

    /// Gradient of packed heads with respect to the rows, and to the per-head norms.
    fn pack_heads_backward(
        &self,
        gradient: Packed,
        qkv: Tensor<2>,
        heads: &Heads,
        spans: &[Span],
        norms: HeadNorms<&Tensor<2>>,
    ) -> (Tensor<2>, HeadNorms<Tensor<2>>);

    /// Rows of tokens [tokens, heads × width] → per block [key head, token × head, width].
    fn split_heads(&self, rows: Tensor<2>, heads: &Heads, spans: &[Span]) -> Vec<Tensor<3>>;

    /// The way back of [`Kernels::split_heads`].
    fn join_heads(&self, blocks: Vec<Tensor<3>>, heads: &Heads) -> Tensor<2>;

    /// softmax(scale · scores) over the keys that a row may see, zero elsewhere.
    fn softmax(&self, scores: Tensor<3>, causal: Causal, scale: f64) -> Tensor<3>;

    /// Gradient with respect to the unscaled scores, from that of the probabilities.
    fn softmax_backward(
        &self,
        d: Tensor<3>,
        probabilities: Tensor<3>,
        causal: Causal,
        scale: f64,
    ) -> Tensor<3>;

    /// Adds [heads, n, width] to the first n rows of every head of a sum.
    fn add_prefix(&self, sum: Tensor<3>, part: Tensor<3>) -> Tensor<3>;

    /// π of every row of logits, and what is measured for the chosen tokens.
    fn distributions(&self, logits: Tensor<2>, targets: &[u32]) -> (Tensor<2>, TokenStats);

    /// c (onehot − π), the gradient of Σ c ln π with respect to the logits.
    fn logit_gradient(&self, pi: Tensor<2>, targets: &[u32], c: &[f32]) -> Tensor<2>;

    /// One step of AdamW with PyTorch's rule: new parameter, first and second moment.
    fn adamw(&self, w: Tensor<2>, g: Tensor<2>, m: Tensor<2>, v: Tensor<2>, rule: AdamRule)
    -> [Tensor<2>; 3];

    /// Whether threads may update parameters side by side.
    fn updates_side_by_side(&self) -> bool;
}
