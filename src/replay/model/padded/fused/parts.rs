//! Float32 matrices as bfloat16 factors that keep 16 bits of every number.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::places::row_of_plane;
use super::{LANES, by_row, element, fresh, given, taken};

/// Every row as its rounded numbers h and what rounding left, l: h, l, h for the first factor of a
/// product, h, h, l for the second. One product of such rows is that of the float32 rows but for l · l and
/// the rounding of l: 2⁻¹⁷ of each term.
pub fn parts(x: &Burn<2>, first: bool) -> Option<Burn<2>> {
    let [rows, width] = x.dims();
    let x = given(x)?;
    let out = fresh(&x, [rows, 3 * width], DType::BF16);
    let (count, dim) = by_row(rows);
    parts_kernel::launch(
        &out.client,
        count,
        dim,
        x.into_tensor_arg(),
        out.clone().into_tensor_arg(),
        rows,
        width,
        first,
        element(&out),
    );
    Some(taken(out))
}

#[cube(launch)]
fn parts_kernel<O: Float>(
    x: &Tensor<f32>,
    out: &mut Tensor<O>,
    rows: usize,
    width: usize,
    #[comptime] first: bool,
    #[define(O)] _out: ElemType,
) {
    let row = row_of_plane();
    if row >= rows {
        terminate!();
    }
    let mut i = UNIT_POS_X as usize;
    while i < width {
        let v = x[row * width + i];
        let high = O::cast_from(v);
        let low = O::cast_from(v - f32::cast_from(high));
        let at = 3 * row * width + i;
        out[at] = high;
        if first {
            out[at + width] = low;
            out[at + 2 * width] = high;
        } else {
            out[at + width] = high;
            out[at + 2 * width] = low;
        }
        i += LANES;
    }
}
