//! One step of AdamW with PyTorch's rule.

use burn::tensor::Tensor;

use super::super::ops::AdamRule;
#[cfg(feature = "cuda")]
use super::fused;

/// New parameter, first and second moment.
pub fn adamw(w: Tensor<2>, g: Tensor<2>, m: Tensor<2>, v: Tensor<2>, rule: AdamRule) -> [Tensor<2>; 3] {
    #[cfg(feature = "cuda")]
    if let Some(new) = fused::adamw(&w, &g, &m, &v, rule) {
        return new;
    }
    let m = m.clone() + (g.clone() - m).mul_scalar(rule.gain1);
    let v = v.mul_scalar(rule.beta2) + g.square().mul_scalar(rule.gain2);
    let size = v.clone().sqrt().div_scalar(rule.root).add_scalar(rule.eps);
    let w = w.mul_scalar(rule.keep) - m.clone().mul_scalar(rule.step) / size;
    [w, m, v]
}
