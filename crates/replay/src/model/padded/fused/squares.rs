//! Sums of squares.

use burn::tensor::{DType, Tensor as Burn};
use cubecl::prelude::*;

use super::launch::LANES;
use super::places::row_of_plane;
use super::tensors::{fresh, given, taken};

/// Planes that share a tensor.
const PLANES: usize = 2048;

/// Σ x² of every tensor, as the sums of `PLANES` parts each.
pub fn sums_of_squares(tensors: &[&Burn<2>]) -> Option<Vec<Burn<1>>> {
    tensors.iter().map(|tensor| parts(tensor)).collect()
}

fn parts(tensor: &Burn<2>) -> Option<Burn<1>> {
    let count = tensor.shape().num_elements();
    let x = given(tensor)?;
    let parts = fresh(&x, [PLANES], DType::F32);
    squares_kernel::launch(
        &parts.client,
        CubeCount::Static((PLANES / 8) as u32, 1, 1),
        CubeDim::new_2d(LANES as u32, 8),
        x.into_tensor_arg(),
        parts.clone().into_tensor_arg(),
        count,
    );
    Some(taken(parts))
}

#[cube(launch)]
fn squares_kernel(x: &Tensor<f32>, parts: &mut Tensor<f32>, count: usize) {
    let plane = row_of_plane();
    let mut sum = f32::new(0.0);
    let mut i = plane * LANES + UNIT_POS_X as usize;
    while i < count {
        let v = x[i];
        sum += v * v;
        i += LANES * PLANES;
    }
    let all = plane_sum(sum);
    if UNIT_POS_X == 0 {
        parts[plane] = all;
    }
}
