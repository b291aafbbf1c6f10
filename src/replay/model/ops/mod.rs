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

use burn::tensor::Device;

pub(super) use attention::{Block, Span};
pub(super) use heads::{Heads, Packed};
pub(super) use update::AdamRule;

use crate::replay::device::shares_host_memory;

/// Where tensors are, and with it the form of every operation.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) device: Device,
    host: bool,
}

impl Place {
    pub(super) fn new(device: &Device) -> Self {
        Self { device: device.clone(), host: shares_host_memory(device) }
    }

    /// Tensor operations also where fused loops could be used, to check one by the other.
    #[cfg(test)]
    pub(super) fn without_host_loops(device: &Device) -> Self {
        Self { device: device.clone(), host: false }
    }
}
