//! Root-mean-square norm and its gradient.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::launch::{LANES, by_column, by_row};
use super::places::row_of_plane;
use super::tensors::{element, factor, fresh, given, taken};

/// Rows whose share of a weight's gradient one thread sums.
const STRIP: usize = 64;

/// 1 / √(mean x² + ε) of a sum of squares.
#[cube]
pub fn inverse_root_mean_square(squares: f32, width: usize, eps: f32) -> f32 {
    f32::new(1.0) / (squares / f32::cast_from(width as u32) + eps).sqrt()
}

/// x / √(mean x² + ε) · w, rounded where it is a factor of rounded products.
pub fn norm(x: &Burn<2>, weight: &Burn<2>, eps: f64, half: bool) -> Option<Burn<2>> {
    let [rows, width] = x.dims();
    let (x, weight) = (given(x)?, given(weight)?);
    let out = fresh(&x, [rows, width], factor(half));
    let (count, dim) = by_row(rows);
    norm_kernel::launch(
        &out.client,
        count,
        dim,
        x.into_tensor_arg(),
        weight.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        rows,
        width,
        eps as f32,
        element(&out),
    );
    Some(taken(out))
}

#[cube(launch)]
fn norm_kernel<O: Float>(
    x: &Tensor<f32>,
    weight: &Tensor<f32>,
    out: &mut Tensor<O>,
    rows: usize,
    width: usize,
    eps: f32,
    #[define(O)] _out: ElemType,
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let start = row * width;
    let lane = UNIT_POS_X as usize;
    let mut squares = f32::new(0.0);
    let mut i = lane;
    while i < width {
        let v = x[start + i];
        squares += v * v;
        i += LANES;
    }
    let scale = inverse_root_mean_square(plane_sum(squares), width, eps);
    let mut i = lane;
    while i < width {
        out[start + i] = O::cast_from(x[start + i] * scale * weight[i]);
        i += LANES;
    }
}

/// Gradients with respect to input (with the residual's added) and weight.
pub fn norm_backward(
    dy: &Burn<2>,
    x: &Burn<2>,
    weight: &Burn<2>,
    eps: f64,
    residual: Option<&Burn<2>>,
) -> Option<(Burn<2>, Burn<2>)> {
    let [rows, width] = x.dims();
    let (dy, x, weight) = (given(dy)?, given(x)?, given(weight)?);
    let with_residual = residual.is_some();
    let residual = if let Some(residual) = residual { given(residual)? } else { dy.clone() };
    let dx = fresh(&x, [rows, width], DType::F32);
    let scales = fresh(&x, [rows], DType::F32);
    let (count, dim) = by_row(rows);
    norm_backward_kernel::launch(
        &dx.client,
        count,
        dim,
        dy.clone().into_tensor_arg(),
        x.clone().into_tensor_arg(),
        weight.into_tensor_arg(),
        residual.into_tensor_arg(),
        dx.clone().into_tensor_arg(),
        scales.clone().into_tensor_arg(),
        rows,
        width,
        eps as f32,
        with_residual,
    );
    let strips = rows.div_ceil(STRIP);
    let parts = fresh(&x, [strips, width], DType::F32);
    let (count, dim) = by_column(strips, width);
    weight_gradient_kernel::launch(
        &parts.client,
        count,
        dim,
        dy.into_tensor_arg(),
        x.into_tensor_arg(),
        scales.into_tensor_arg(),
        parts.clone().into_tensor_arg(),
        rows,
        width,
        STRIP,
    );
    Some((taken(dx), taken::<2>(parts).sum_dim(0)))
}

#[cube(launch)]
fn norm_backward_kernel(
    dy: &Tensor<f32>,
    x: &Tensor<f32>,
    weight: &Tensor<f32>,
    residual: &Tensor<f32>,
    dx: &mut Tensor<f32>,
    scales: &mut Tensor<f32>,
    rows: usize,
    width: usize,
    eps: f32,
    #[comptime] with_residual: bool,
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let start = row * width;
    let lane = UNIT_POS_X as usize;
    let mut squares = f32::new(0.0);
    let mut along = f32::new(0.0);
    let mut i = lane;
    while i < width {
        let v = x[start + i];
        squares += v * v;
        along += dy[start + i] * weight[i] * v;
        i += LANES;
    }
    let scale = inverse_root_mean_square(plane_sum(squares), width, eps);
    let along = plane_sum(along) * scale / f32::cast_from(width as u32);
    let mut i = lane;
    while i < width {
        let at = start + i;
        let mut d = (dy[at] * weight[i] - x[at] * scale * along) * scale;
        if with_residual {
            d += residual[at];
        }
        dx[at] = d;
        i += LANES;
    }
    if lane == 0 {
        scales[row] = scale;
    }
}

#[cube(launch)]
fn weight_gradient_kernel(
    dy: &Tensor<f32>,
    x: &Tensor<f32>,
    scales: &Tensor<f32>,
    parts: &mut Tensor<f32>,
    rows: usize,
    width: usize,
    strip: usize,
) {
    let column = (CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X) as usize;
    if column >= width {
        terminate!();
    }
    let part = CUBE_POS_Y as usize;
    let mut row = part * strip;
    let mut end = row + strip;
    if end > rows {
        end = rows;
    }
    let mut sum = f32::new(0.0);
    while row < end {
        let at = row * width + column;
        sum += dy[at] * x[at] * scales[row];
        row += 1;
    }
    parts[part * width + column] = sum;
}
