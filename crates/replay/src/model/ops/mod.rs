//! The operations of a decoder with their gradients on the processor: fused loops for tensors in its
//! own memory (`host`), and what is made of them and of products of matrices.

mod adam_rule;
mod attention;
mod blocks;
mod compute;
mod heads;
mod host;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use adam_rule::AdamRule;
pub use attention::Block;
pub use blocks::Span;
pub use compute::Compute;
pub use heads::{HeadNorms, HeadPart, HeadShape, Heads, Packed};
