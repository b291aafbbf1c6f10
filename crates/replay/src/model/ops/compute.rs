//! Products of matrices and the fused loops, with what they need to know.

use burn::tensor::{Device, FloatDType, Tensor};

use super::host::HostKernels;

/// The processor's loops over tensors in its own memory.
#[derive(Debug, Clone)]
pub struct Compute {
    pub device: Device,
    pub kernels: HostKernels,
    /// Whether products of the layers are taken in bfloat16.
    half: bool,
}

impl Compute {
    /// For a device whose tensors are in the processor's own memory.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), kernels: HostKernels::new(device), half: false }
    }

    /// Products of the layers in bfloat16; parameters, sums and everything else stay in float32.
    pub fn with_half_products(self) -> Self {
        Self { half: true, ..self }
    }

    /// Whether products of the layers are taken in bfloat16.
    pub fn rounds(&self) -> bool {
        self.half
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
