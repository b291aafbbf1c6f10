//! Hugging Face checkpoints. Only JSON and safetensors are read: nothing in them can run.

mod read;
mod safetensors_file;
mod write;

pub use read::{read_config, read_json, read_tensors};
pub use safetensors_file::{TensorFile, write_tensors};
pub use write::{write, write_json};
