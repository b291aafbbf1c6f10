//! Fused loops for tensors in the processor's own memory. They are compiled for the widest vectors
//! that the processor has (chosen at run time) and take their buffers from tensors without a copy.

mod buffer;
mod copies;
mod heads;
mod kernels;
mod logits;
mod math;
mod mlp;
mod norm;
mod rotary;
mod softmax;
mod update;

pub use kernels::HostKernels;
