//! One step of AdamW.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::super::super::ops::AdamRule;
use super::tensors::{fresh, given, taken};

/// New parameter, first and second moment.
pub fn adamw(w: &Burn<2>, g: &Burn<2>, m: &Burn<2>, v: &Burn<2>, rule: AdamRule) -> Option<[Burn<2>; 3]> {
    let shape = w.dims();
    let count = shape[0] * shape[1];
    let [w, g, m, v] = [given(w)?, given(g)?, given(m)?, given(v)?];
    let new: [_; 3] = std::array::from_fn(|_| fresh(&w, shape, DType::F32));
    let client = w.client.clone();
    let dim = CubeDim::new_1d(256);
    adamw_kernel::launch(
        &client,
        calculate_cube_count_elemwise(&client, count, dim),
        dim,
        w.into_tensor_arg(),
        g.into_tensor_arg(),
        m.into_tensor_arg(),
        v.into_tensor_arg(),
        new[0].clone().into_tensor_arg(),
        new[1].clone().into_tensor_arg(),
        new[2].clone().into_tensor_arg(),
        count,
        rule.keep,
        rule.gain1,
        rule.beta2,
        rule.gain2,
        rule.step,
        rule.root,
        rule.eps,
    );
    Some(new.map(taken))
}

#[cube(launch)]
fn adamw_kernel(
    w: &Tensor<f32>,
    g: &Tensor<f32>,
    m: &Tensor<f32>,
    v: &Tensor<f32>,
    new_w: &mut Tensor<f32>,
    new_m: &mut Tensor<f32>,
    new_v: &mut Tensor<f32>,
    count: usize,
    keep: f32,
    gain1: f32,
    beta2: f32,
    gain2: f32,
    step: f32,
    root: f32,
    eps: f32,
) {
    let i = ABSOLUTE_POS;
    if i >= count {
        terminate!();
    }
    let gradient = g[i];
    let first = m[i] + (gradient - m[i]) * gain1;
    let second = v[i] * beta2 + gradient * gradient * gain2;
    new_m[i] = first;
    new_v[i] = second;
    new_w[i] = w[i] * keep - first * step / (second.sqrt() / root + eps);
}
