//! The memory of a tensor, taken out and put back.

use burn::tensor::{Device, Tensor, TensorData};

/// Numbers of a tensor whose device shares our memory.
pub struct Buffer(TensorData);

impl Buffer {
    /// Takes a tensor's memory; copies it only where something else still holds it.
    pub fn take<const D: usize>(tensor: Tensor<D>) -> Self {
        Self(tensor.into_data())
    }

    /// A tensor again.
    pub fn give<const D: usize>(self, device: &Device) -> Tensor<D> {
        Tensor::from_data(self.0, device)
    }
}

/// A tensor around new numbers.
pub fn wrap<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

impl std::ops::Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // Parameters are float32 from the moment they are loaded, and so is all that follows.
        self.0.as_slice().unwrap_or_default()
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        self.0.as_mut_slice().unwrap_or_default()
    }
}
