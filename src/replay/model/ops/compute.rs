//! Where tensors are computed, and with what.

use std::sync::Arc;

use burn::tensor::{Device, FloatDType, Tensor};

use super::host::HostKernels;
use super::kernels::Kernels;
use super::tensors::TensorKernels;
use crate::replay::device::shares_host_memory;

/// A device with the kernels that suit it.
#[derive(Debug, Clone)]
pub struct Compute {
    pub device: Device,
    pub kernels: Arc<dyn Kernels>,
    /// Whether products of the layers are taken in bfloat16.
    half: bool,
}

impl Compute {
    /// Fused loops where tensors are in the processor's own memory, else tensor operations.
    pub fn new(device: &Device) -> Self {
        if !shares_host_memory(device) {
            return Self::by_tensors(device);
        }
        Self { device: device.clone(), kernels: Arc::new(HostKernels::new(device)), half: false }
    }

    /// Tensor operations, whatever the device.
    pub fn by_tensors(device: &Device) -> Self {
        Self { device: device.clone(), kernels: Arc::new(TensorKernels::new(device)), half: false }
    }

    /// Products of the layers in bfloat16; parameters, sums and everything else stay in float32.
    pub fn with_half_products(self) -> Self {
        Self { half: true, ..self }
    }

    /// A product of matrices of a layer.
    pub fn product<const D: usize>(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        if self.half {
            let product = a.cast(FloatDType::BF16).matmul(b.cast(FloatDType::BF16));
            return product.cast(FloatDType::F32);
        }
        a.matmul(b)
    }
}
