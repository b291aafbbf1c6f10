//! Fused loops for tensors in the processor's own memory. They are compiled for the widest vectors
//! that the processor has (chosen at run time) and take their buffers from tensors without a copy.

pub(super) mod buffer;
pub(super) mod heads;
pub(super) mod logits;
pub(super) mod math;
pub(super) mod mlp;
pub(super) mod norm;
pub(super) mod rotary;
pub(super) mod softmax;
pub(super) mod update;
