//! The operations of a decoder with their gradients, each in two forms: as tensor operations that
//! every device has, and as one fused loop for tensors in the processor's own memory.

mod attention;
mod heads;
mod heads_by_tensors;
mod host;
mod logits;
mod mlp;
mod norm;
mod update;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use burn::tensor::{Device, FloatDType, Tensor};

pub(super) use attention::{Block, Span};
pub(super) use heads::{Heads, Packed};
pub(super) use update::AdamRule;

use crate::replay::device::shares_host_memory;

/// Where tensors are, and with it the form of every operation.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) device: Device,
    host: bool,
    /// Whether products of the layers are taken in bfloat16.
    half: bool,
}

impl Place {
    pub(super) fn new(device: &Device) -> Self {
        Self { device: device.clone(), host: shares_host_memory(device), half: false }
    }

    /// Whether tensors are in the processor's own memory.
    pub(super) fn is_host(&self) -> bool {
        self.host
    }

    /// Products of the layers in bfloat16; parameters, sums and everything else stay in float32.
    pub(super) fn with_half_products(self) -> Self {
        Self { half: true, ..self }
    }

    /// A product of matrices of a layer.
    pub(super) fn product<const D: usize>(&self, a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
        if self.half {
            let product = a.cast(FloatDType::BF16).matmul(b.cast(FloatDType::BF16));
            return product.cast(FloatDType::F32);
        }
        a.matmul(b)
    }

    /// Tensor operations also where fused loops could be used, to check one by the other.
    #[cfg(test)]
    pub(super) fn without_host_loops(device: &Device) -> Self {
        Self { device: device.clone(), host: false, half: false }
    }
}
