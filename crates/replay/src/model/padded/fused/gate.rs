//! The gate of the feed-forward part, silu(gate) · up, and its gradient.

use burn::tensor::Tensor as Burn;
use cubecl::prelude::*;

use super::launch::{LANES, by_row};
use super::places::row_of_plane;
use super::tensors::{element, factor, fresh, given, taken};

/// The activation.
pub fn gate(gate_up: &Burn<2>, half: bool) -> Option<Burn<2>> {
    let [rows, columns] = gate_up.dims();
    let gate_up = given(gate_up)?;
    let out = fresh(&gate_up, [rows, columns / 2], factor(half));
    let (count, dim) = by_row(rows);
    let elements = [element(&gate_up), element(&out)];
    gate_kernel::launch(
        &out.client,
        count,
        dim,
        gate_up.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        rows,
        columns / 2,
        elements,
    );
    Some(taken(out))
}

#[cube(launch)]
fn gate_kernel<I: Float, O: Float>(
    gate_up: &Tensor<I>,
    out: &mut Tensor<O>,
    rows: usize,
    inner: usize,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let mut i = UNIT_POS_X as usize;
    while i < inner {
        let at = 2 * row * inner + i;
        let gate = f32::cast_from(gate_up[at]);
        let up = f32::cast_from(gate_up[at + inner]);
        out[row * inner + i] = O::cast_from(gate * sigmoid(gate) * up);
        i += LANES;
    }
}

#[cube]
fn sigmoid(x: f32) -> f32 {
    f32::new(1.0) / (f32::new(1.0) + (f32::new(0.0) - x).exp())
}

/// The activation again, and the gradient with respect to gate and up, both as factors.
pub fn gate_backward(gate_up: &Burn<2>, d_act: &Burn<2>, half: bool) -> Option<(Burn<2>, Burn<2>)> {
    let [rows, columns] = gate_up.dims();
    let (gate_up, d_act) = (given(gate_up)?, given(d_act)?);
    let act = fresh(&gate_up, [rows, columns / 2], factor(half));
    let d = fresh(&gate_up, [rows, columns], factor(half));
    let (count, dim) = by_row(rows);
    let elements = [element(&gate_up), element(&act)];
    gate_backward_kernel::launch(
        &act.client,
        count,
        dim,
        gate_up.into_tensor_arg(),
        d_act.into_tensor_arg(),
        act.clone().into_tensor_arg(),
        d.clone().into_tensor_arg(),
        rows,
        columns / 2,
        elements,
    );
    Some((taken(act), taken(d)))
}

#[cube(launch)]
fn gate_backward_kernel<I: Float, O: Float>(
    gate_up: &Tensor<I>,
    d_act: &Tensor<f32>,
    act: &mut Tensor<O>,
    d: &mut Tensor<O>,
    rows: usize,
    inner: usize,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let mut i = UNIT_POS_X as usize;
    while i < inner {
        let at = 2 * row * inner + i;
        let gate = f32::cast_from(gate_up[at]);
        let up = f32::cast_from(gate_up[at + inner]);
        let d_out = d_act[row * inner + i];
        let share = sigmoid(gate);
        let silu = gate * share;
        act[row * inner + i] = O::cast_from(silu * up);
        d[at] = O::cast_from(d_out * up * (share + share * (gate - silu)));
        d[at + inner] = O::cast_from(d_out * silu);
        i += LANES;
    }
}
