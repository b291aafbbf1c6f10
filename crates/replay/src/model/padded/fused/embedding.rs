//! Gradient of the embedding: the rows of every token are added in their order, 32 columns a plane.

use burn::tensor::{Int, Tensor as Burn};
use burn_cubecl::kernel::into_contiguous;
use cubecl::prelude::*;

use super::launch::{LANES, PLANES};
use super::places::row_of_plane;
use super::tensors::{element, given, given_ints, taken};

/// Where the rows of each token are: those of `ids[n]` are `order[starts[n]..starts[n + 1]]`.
pub struct RowsOfTokens {
    pub ids: Burn<1, Int>,
    pub starts: Burn<1, Int>,
    pub order: Burn<1, Int>,
}

/// Adds rows to those of a matrix.
pub fn add_rows(matrix: &Burn<2>, places: &RowsOfTokens, rows: &Burn<2>) -> Option<Burn<2>> {
    let width = rows.dims()[1];
    let count = places.ids.dims()[0];
    let (ids, starts, order) =
        (given_ints(&places.ids)?, given_ints(&places.starts)?, given_ints(&places.order)?);
    let rows = given(rows)?;
    // A copy may be laid out with gaps between its rows.
    let sum = into_contiguous(given(matrix)?.copy());
    let cubes = CubeCount::Static(count.div_ceil(PLANES) as u32, width.div_ceil(LANES) as u32, 1);
    let dim = CubeDim::new_2d(LANES as u32, PLANES as u32);
    let integer = element(&ids);
    add_rows_kernel::launch(
        &sum.client,
        cubes,
        dim,
        ids.into_tensor_arg(),
        starts.into_tensor_arg(),
        order.into_tensor_arg(),
        rows.into_tensor_arg(),
        sum.clone().into_tensor_arg(),
        count,
        width,
        integer,
    );
    Some(taken(sum))
}

#[cube(launch)]
fn add_rows_kernel<I: Numeric>(
    ids: &Tensor<I>,
    starts: &Tensor<I>,
    order: &Tensor<I>,
    rows: &Tensor<f32>,
    sum: &mut Tensor<f32>,
    count: usize,
    width: usize,
    #[define(I)] _integer: ElemType,
) {
    let token = row_of_plane();
    if token >= count {
        terminate!();
    }
    let first = u32::cast_from(starts[token]) as usize;
    let end = u32::cast_from(starts[token + 1]) as usize;
    let start = u32::cast_from(ids[token]) as usize * width;
    let i = CUBE_POS_Y as usize * LANES + UNIT_POS_X as usize;
    if i < width {
        let mut total = sum[start + i];
        let mut next = first;
        while next < end {
            total += rows[u32::cast_from(order[next]) as usize * width + i];
            next += 1;
        }
        sum[start + i] = total;
    }
}
