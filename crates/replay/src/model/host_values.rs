//! Numbers out of a tensor.

use burn::tensor::Tensor;

/// A copy of a tensor's numbers.
pub fn host_values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.to_data().as_slice::<f32>().map(<[f32]>::to_vec).unwrap_or_default()
}
