//! A decoder that can be measured and trained: Hugging Face checkpoints of Qwen3, Qwen2 and Llama.
//!
//! Every objective of the replay depends on the parameters only through ln π of the chosen tokens.
//! So the model needs to know just one thing of an objective: the weight c_t = ∂loss/∂ln π_t of every
//! token. [`Engine::measure`] gives ln π and what else is measured; [`Engine::differentiate`] asks for
//! the weights in between and returns the gradient of the loss. Forward and backward passes are written
//! out (no graph is recorded), sequences are packed without padding, logits exist in chunks only, and
//! packs run side by side on threads with gradients summed in a fixed order.

mod adamw;
mod body;
mod checkpoint;
mod config;
mod engine;
mod gradients;
mod head;
mod layer;
mod layout;
mod ops;
mod policy;
mod random;
mod resume;
mod rope;
mod sequence;
mod workers;

use burn::tensor::Tensor;

pub use adamw::{AdamW, AdamWSettings};
pub use config::{Architecture, ModelConfig};
pub use engine::{Engine, EngineSettings};
pub use gradients::Gradients;
pub use policy::Policy;
pub use resume::{load_state, save_state};
pub use rope::RopeScaling;
pub use sequence::{Sequence, TokenStats};

/// A copy of a tensor's numbers.
fn host_values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.to_data().as_slice::<f32>().map(<[f32]>::to_vec).unwrap_or_default()
}
