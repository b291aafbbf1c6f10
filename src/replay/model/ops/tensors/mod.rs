//! Tensor operations that every device has, for devices with memory of their own.

mod heads;
mod kernels;
mod logits;
mod mlp;
mod norm;
mod softmax;

pub use kernels::TensorKernels;
