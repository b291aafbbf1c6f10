//! Kernels of our own for CUDA devices. What tensor operations compute in a dozen passes over the card's
//! memory is one or two passes here, and a tensor that only feeds products is written as the products
//! want it. Every function gives nothing where its tensors are not on a CUDA device; the tensor
//! operations beside it are then what runs, and what the tests hold these kernels against.

mod adamw;
mod attended;
mod embedding;
mod gate;
mod head_kernels;
mod heads;
mod norm;
mod output;
mod parts;
mod places;
mod products;
mod softmax;
mod squares;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use burn::tensor::{DType, Int, Shape, Tensor};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice};
use cubecl::prelude::{CubeCount, CubeDim, ElemType, Scalar};

pub use adamw::adamw;
pub use attended::{dot_and_split, join};
pub use embedding::{RowsOfTokens, add_rows};
pub use gate::{gate, gate_backward};
pub use heads::{pack, pack_backward};
pub use norm::{norm, norm_backward};
pub use output::{logit_gradient, measure};
pub use parts::parts;
pub use products::product;
pub use softmax::{probabilities, score_gradient};
pub use squares::sums_of_squares;

/// Threads of a plane, which sums without shared memory.
const LANES: usize = 32;
/// Planes of a block; each has a row of its own.
const PLANES: usize = 8;

/// A tensor of a CUDA device as kernels read it, row behind row.
fn given<const D: usize>(tensor: &Tensor<D>) -> Option<CubeTensor> {
    on_card(tensor.clone().try_into_primitive::<CubeBackend>().ok()?)
}

/// Likewise of whole numbers.
fn given_ints<const D: usize>(tensor: &Tensor<D, Int>) -> Option<CubeTensor> {
    on_card(tensor.clone().try_into_primitive::<CubeBackend>().ok()?)
}

fn on_card(tensor: CubeTensor) -> Option<CubeTensor> {
    matches!(tensor.device, CubeDevice::Cuda(_)).then(|| into_contiguous(tensor))
}

fn taken<const D: usize>(tensor: CubeTensor) -> Tensor<D> {
    Tensor::from_primitive::<CubeBackend>(tensor)
}

/// Memory beside that of another tensor; its kernel writes all of it.
fn fresh<const D: usize>(like: &CubeTensor, shape: [usize; D], dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), Shape::new(shape), dtype)
}

/// What products take: bfloat16 where they are rounded.
fn factor(half: bool) -> DType {
    if half { DType::BF16 } else { DType::F32 }
}

fn element(tensor: &CubeTensor) -> ElemType {
    match tensor.dtype {
        DType::BF16 => half::bf16::elem_type_native(),
        DType::I64 => i64::elem_type_native(),
        DType::I32 => i32::elem_type_native(),
        _ => f32::elem_type_native(),
    }
}

/// A plane for each row.
fn by_row(rows: usize) -> (CubeCount, CubeDim) {
    (CubeCount::Static(rows.div_ceil(PLANES) as u32, 1, 1), CubeDim::new_2d(LANES as u32, PLANES as u32))
}

/// A thread for each column, for each strip of rows.
fn by_column(strips: usize, columns: usize) -> (CubeCount, CubeDim) {
    let threads = 128;
    (CubeCount::Static(columns.div_ceil(threads) as u32, strips as u32, 1), CubeDim::new_1d(threads as u32))
}
