//! Hugging Face checkpoints. Only JSON and safetensors are read: nothing in them can run.

mod read;
mod safetensors_file;
mod write;

pub(super) use read::{read_config, read_tensors};
pub(super) use safetensors_file::{TensorFile, write_tensors};
pub(super) use write::write;
