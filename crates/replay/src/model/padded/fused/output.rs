//! What is measured of distributions over the vocabulary, and the gradient of their logits: a block of
//! threads for each row.

use burn::tensor::{DType, Int, Tensor as Burn};
use cubecl::prelude::*;

use super::super::output::MEASURED;
use super::launch::LANES;
use super::tensors::{element, factor, fresh, given, given_ints, taken};

/// Planes of a block.
const PLANES: usize = 16;

/// The table of what is measured, ln Σ exp, and Σ π of the tokens that are not the target.
pub fn measure(logits: &Burn<2>, targets: &Burn<2, Int>) -> Option<(Burn<2>, Burn<2>, Burn<2>)> {
    let [rows, size] = logits.dims();
    let (logits, targets) = (given(logits)?, given_ints(targets)?);
    let table = fresh(&logits, [rows, MEASURED], DType::F32);
    let [log_sums, others] = [(); 2].map(|()| fresh(&logits, [rows, 1], DType::F32));
    let integer = element(&targets);
    measure_kernel::launch(
        &table.client,
        CubeCount::Static(rows as u32, 1, 1),
        CubeDim::new_2d(LANES as u32, PLANES as u32),
        logits.into_tensor_arg(),
        targets.into_tensor_arg(),
        table.clone().into_tensor_arg(),
        log_sums.clone().into_tensor_arg(),
        others.clone().into_tensor_arg(),
        size,
        integer,
    );
    Some((taken(table), taken(log_sums), taken(others)))
}

#[cube(launch)]
fn measure_kernel<I: Numeric>(
    logits: &Tensor<f32>,
    targets: &Tensor<I>,
    table: &mut Tensor<f32>,
    log_sums: &mut Tensor<f32>,
    others: &mut Tensor<f32>,
    size: usize,
    #[define(I)] _integer: ElemType,
) {
    let row = CUBE_POS_X as usize;
    let start = row * size;
    let thread = UNIT_POS_Y as usize * LANES + UNIT_POS_X as usize;
    let mut largest_of = Shared::<[f32]>::new_slice(PLANES);
    let mut sum_of = Shared::<[f32]>::new_slice(PLANES);
    let mut parts = Shared::<[f32]>::new_slice(4 * PLANES);
    let mut largest = f32::new(-1.0e30);
    let mut sum = f32::new(0.0);
    let mut i = thread;
    while i < size {
        let v = logits[start + i];
        if v > largest {
            sum = sum * (largest - v).exp() + f32::new(1.0);
            largest = v;
        } else {
            sum += (v - largest).exp();
        }
        i += LANES * PLANES;
    }
    let of_plane = plane_max(largest);
    let sum = plane_sum(sum * (largest - of_plane).exp());
    let plane = UNIT_POS_Y as usize;
    if UNIT_POS_X == 0 {
        largest_of[plane] = of_plane;
        sum_of[plane] = sum;
    }
    sync_cube();
    let mut of_all = largest_of[0];
    for i in 1..PLANES {
        if largest_of[i] > of_all {
            of_all = largest_of[i];
        }
    }
    let mut total = f32::new(0.0);
    for i in 0..PLANES {
        total += sum_of[i] * (largest_of[i] - of_all).exp();
    }
    let log_sum = of_all + total.ln();
    let target = u32::cast_from(targets[row]) as usize;
    let mut entropy = f32::new(0.0);
    let mut weighted = f32::new(0.0);
    let mut rest = f32::new(0.0);
    let mut squares = f32::new(0.0);
    let mut i = thread;
    while i < size {
        let log_pi = logits[start + i] - log_sum;
        let pi = log_pi.exp();
        entropy -= pi * log_pi;
        weighted += pi * pi * log_pi;
        if i != target {
            rest += pi;
            squares += pi * pi;
        }
        i += LANES * PLANES;
    }
    let entropy = plane_sum(entropy);
    let weighted = plane_sum(weighted);
    let rest = plane_sum(rest);
    let squares = plane_sum(squares);
    if UNIT_POS_X == 0 {
        parts[plane] = entropy;
        parts[PLANES + plane] = weighted;
        parts[2 * PLANES + plane] = rest;
        parts[3 * PLANES + plane] = squares;
    }
    sync_cube();
    if thread == 0 {
        let mut entropy = f32::new(0.0);
        let mut weighted = f32::new(0.0);
        let mut rest = f32::new(0.0);
        let mut squares = f32::new(0.0);
        for i in 0..PLANES {
            entropy += parts[i];
            weighted += parts[PLANES + i];
            rest += parts[2 * PLANES + i];
            squares += parts[3 * PLANES + i];
        }
        let chosen = logits[start + target] - log_sum;
        let pi = chosen.exp();
        let at = row * MEASURED;
        table[at] = chosen;
        table[at + 1] = entropy;
        table[at + 2] = squares + pi * pi;
        table[at + 3] = weighted;
        table[at + 4] = squares + rest * rest;
        log_sums[row] = log_sum;
        others[row] = rest;
    }
}

/// c (onehot − π) as a factor, with 1 − π of the target from the sum of the others.
pub fn logit_gradient(
    targets: &Burn<2, Int>,
    [logits, log_sums, others, c]: [&Burn<2>; 4],
    half: bool,
) -> Option<Burn<2>> {
    let [rows, size] = logits.dims();
    let (logits, targets) = (given(logits)?, given_ints(targets)?);
    let (log_sums, others, c) = (given(log_sums)?, given(others)?, given(c)?);
    let d = fresh(&logits, [rows, size], factor(half));
    let elements = [element(&targets), element(&d)];
    logit_gradient_kernel::launch(
        &d.client,
        CubeCount::Static(rows as u32, 1, 1),
        CubeDim::new_2d(LANES as u32, PLANES as u32),
        logits.into_tensor_arg(),
        targets.into_tensor_arg(),
        log_sums.into_tensor_arg(),
        others.into_tensor_arg(),
        c.into_tensor_arg(),
        d.clone().into_tensor_arg(),
        size,
        elements,
    );
    Some(taken(d))
}

#[cube(launch)]
fn logit_gradient_kernel<I: Numeric, O: Float>(
    logits: &Tensor<f32>,
    targets: &Tensor<I>,
    log_sums: &Tensor<f32>,
    others: &Tensor<f32>,
    c: &Tensor<f32>,
    d: &mut Tensor<O>,
    size: usize,
    #[define(I, O)] _elements: [ElemType; 2],
) {
    let row = CUBE_POS_X as usize;
    let start = row * size;
    let target = u32::cast_from(targets[row]) as usize;
    let log_sum = log_sums[row];
    let weight = c[row];
    let mut i = UNIT_POS_Y as usize * LANES + UNIT_POS_X as usize;
    while i < size {
        let mut v = f32::new(0.0) - weight * (logits[start + i] - log_sum).exp();
        if i == target {
            v = weight * others[row];
        }
        d[start + i] = O::cast_from(v);
        i += LANES * PLANES;
    }
}
