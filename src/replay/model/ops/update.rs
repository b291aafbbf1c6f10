//! One step of AdamW, with PyTorch's rule.

use burn::tensor::Tensor;

use super::Place;
use super::host::buffer::Buffer;
use super::host::update as fused;

/// The numbers of one step.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct AdamRule {
    /// 1 − learning rate · decay.
    pub(in super::super) keep: f32,
    /// 1 − β₁.
    pub(in super::super) gain1: f32,
    /// β₂.
    pub(in super::super) beta2: f32,
    /// 1 − β₂.
    pub(in super::super) gain2: f32,
    /// Learning rate over the first moment's bias correction.
    pub(in super::super) step: f32,
    /// √ of the second moment's bias correction.
    pub(in super::super) root: f32,
    pub(in super::super) eps: f32,
}

impl Place {
    /// New parameter, first and second moment.
    pub(in super::super) fn adamw(
        &self,
        w: Tensor<2>,
        g: Tensor<2>,
        m: Tensor<2>,
        v: Tensor<2>,
        rule: AdamRule,
    ) -> [Tensor<2>; 3] {
        if self.host {
            let (mut w, g) = (Buffer::take(w), Buffer::take(g));
            let (mut m, mut v) = (Buffer::take(m), Buffer::take(v));
            fused::adamw(&mut w, &g, &mut m, &mut v, rule);
            return [w, m, v].map(|b| b.give(&self.device));
        }
        let m = m.clone() + (g.clone() - m).mul_scalar(rule.gain1);
        let v = v.mul_scalar(rule.beta2) + g.square().mul_scalar(rule.gain2);
        let size = v.clone().sqrt().div_scalar(rule.root).add_scalar(rule.eps);
        let w = w.mul_scalar(rule.keep) - m.clone().mul_scalar(rule.step) / size;
        [w, m, v]
    }
}
