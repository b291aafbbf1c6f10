//! The model by tensor operations, for devices with memory of their own: sequences of like length are
//! padded into one batch of a few shapes, so that every operation is large and its kernel is compiled
//! once; attention runs in blocks of queries whose probabilities are computed again on the way back, so
//! that memory grows linearly with length; logits exist in chunks; and the host reads one small table
//! per mini-batch.

mod attention;
mod batch;
mod budget;
mod decoder;
mod engine;
#[cfg(feature = "cuda")]
mod fused;
mod heads;
mod layer;
mod mlp;
mod norm;
mod output;
mod products;
mod update;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub(super) use engine::PaddedEngine;
#[cfg(feature = "cuda")]
pub(super) use fused::sums_of_squares;
pub(super) use update::adamw;
