//! Sums over tensors on their device.

use burn::tensor::Tensor;

use super::host_values::host_values;

/// Σ x² of every tensor: summed on the device in float32, read at once.
pub fn sums_of_squares(tensors: &[&Tensor<2>]) -> Vec<f64> {
    if tensors.is_empty() {
        return vec![];
    }
    #[cfg(feature = "cuda")]
    if let Some(parts) = super::padded::sums_of_squares(tensors) {
        let each = parts.first().map_or(1, |p| p.dims()[0]);
        let values = host_values(&Tensor::<1>::cat(parts, 0));
        return values.chunks(each).map(|c| c.iter().fold(0.0, |sum, v| sum + f64::from(*v))).collect();
    }
    let sums = tensors.iter().map(|t| (*t).clone().square().sum()).collect();
    host_values(&Tensor::<1>::cat(sums, 0)).into_iter().map(f64::from).collect()
}
