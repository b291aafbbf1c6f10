//! One step of AdamW over the numbers of a parameter.

use super::super::adam_rule::AdamRule;
use super::math::vectorized;

/// As PyTorch computes it: decay, first moment by interpolation, second moment, step.
pub fn adamw(w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], rule: AdamRule) {
    let AdamRule { keep, gain1, beta2, gain2, step, root, eps } = rule;
    vectorized(
        #[inline(always)]
        || {
            for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
                *m += gain1 * (g - *m);
                *v = *v * beta2 + gain2 * g * g;
                *w = *w * keep - step * *m / (v.sqrt() / root + eps);
            }
        },
    );
}
