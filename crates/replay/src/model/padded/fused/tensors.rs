//! Tensors as kernels take and give them.

use burn::tensor::{DType, Int, Shape, Tensor};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice};
use cubecl::prelude::{ElemType, Scalar};

/// A tensor of a CUDA device as kernels read it, row behind row.
pub fn given<const D: usize>(tensor: &Tensor<D>) -> Option<CubeTensor> {
    on_card(tensor.clone().try_into_primitive::<CubeBackend>().ok()?)
}

/// Likewise of whole numbers.
pub fn given_ints<const D: usize>(tensor: &Tensor<D, Int>) -> Option<CubeTensor> {
    on_card(tensor.clone().try_into_primitive::<CubeBackend>().ok()?)
}

fn on_card(tensor: CubeTensor) -> Option<CubeTensor> {
    matches!(tensor.device, CubeDevice::Cuda(_)).then(|| into_contiguous(tensor))
}

/// What a kernel has written, for tensor operations.
pub fn taken<const D: usize>(tensor: CubeTensor) -> Tensor<D> {
    Tensor::from_primitive::<CubeBackend>(tensor)
}

/// Memory beside that of another tensor; its kernel writes all of it.
pub fn fresh<const D: usize>(like: &CubeTensor, shape: [usize; D], dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), Shape::new(shape), dtype)
}

/// What products take: bfloat16 where they are rounded.
pub fn factor(half: bool) -> DType {
    if half { DType::BF16 } else { DType::F32 }
}

/// The type of a tensor's numbers.
pub fn element(tensor: &CubeTensor) -> ElemType {
    match tensor.dtype {
        DType::BF16 => half::bf16::elem_type_native(),
        DType::I64 => i64::elem_type_native(),
        DType::I32 => i32::elem_type_native(),
        _ => f32::elem_type_native(),
    }
}
