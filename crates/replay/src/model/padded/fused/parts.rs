//! Float32 matrices as bfloat16 factors that keep 16 bits of every number.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::launch::{LANES, by_row};
use super::places::row_of_plane;
use super::tensors::{element, fresh, given, taken};

/// Every number as what rounding it to bfloat16 gives, h, and what that left, l, in three blocks along the
/// dimension that a product sums over: h, l, h in its first factor, h, h, l in its second. One product of
/// such factors is that of the float32 ones but for l · l and the rounding of l: 2⁻¹⁷ of each term. That
/// dimension is the rows' own, or where they are stacked the one of rows.
pub fn parts<const D: usize>(x: &Burn<D>, first: bool, stacked: bool) -> Option<Burn<D>> {
    let mut shape = x.dims();
    let (rows, width) = (shape[D - 2], shape[D - 1]);
    let all: usize = shape[..D - 1].iter().product();
    let x = given(x)?;
    shape[if stacked { D - 2 } else { D - 1 }] *= 3;
    let out = fresh(&x, shape, DType::BF16);
    let (count, dim) = by_row(all);
    parts_kernel::launch(
        &out.client,
        count,
        dim,
        x.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        all,
        rows,
        width,
        first,
        stacked,
        element(&out),
    );
    Some(taken(out))
}

#[cube(launch)]
fn parts_kernel<O: Float>(
    x: &Tensor<f32>,
    out: &mut Tensor<O>,
    all: usize,
    rows: usize,
    width: usize,
    #[comptime] first: bool,
    #[comptime] stacked: bool,
    #[define(O)] _out: ElemType,
) {
    let row = row_of_plane();
    if row >= all {
        terminate!();
    }
    let mut start = 3 * row * width;
    let mut apart = width;
    if stacked {
        start = (3 * (row / rows) * rows + row % rows) * width;
        apart = rows * width;
    }
    let mut i = UNIT_POS_X as usize;
    while i < width {
        let v = x[row * width + i];
        let high = O::cast_from(v);
        let low = O::cast_from(v - f32::cast_from(high));
        out[start + i] = high;
        if first {
            out[start + apart + i] = low;
            out[start + 2 * apart + i] = high;
        } else {
            out[start + apart + i] = high;
            out[start + 2 * apart + i] = low;
        }
        i += LANES;
    }
}
