//! The operations of a decoder with their gradients: one trait of [`Kernels`] with two
//! implementations, fused loops for tensors in the processor's own memory (`host`) and tensor
//! operations that every device has (`tensors`); and what is made of them on any device.

mod attention;
mod blocks;
mod compute;
mod heads;
mod host;
mod kernels;
mod tensors;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use attention::Block;
pub use blocks::Span;
pub use compute::Compute;
pub use heads::{Heads, Packed};
pub use kernels::AdamRule;
