//! A decoder that can be measured and trained: Hugging Face checkpoints of Qwen3, Qwen2 and Llama.
//!
//! Every objective of the replay depends on the parameters only through ln π of the chosen tokens.
//! So the model needs to know just one thing of an objective: the weight c_t = ∂loss/∂ln π_t of every
//! token. [`Engine::measure`] gives ln π and what else is measured; [`Engine::differentiate`] asks for
//! the weights in between and returns the gradient of the loss. Forward and backward passes are written
//! out (no graph is recorded) and logits exist in chunks only. On the processor sequences are packed
//! without padding, and packs run side by side on threads with gradients summed in a fixed order;
//! other devices get few large operations on padded batches.

mod adamw;
mod adapter;
mod body;
mod checkpoint;
mod config;
mod engine;
mod gradients;
mod head;
mod host_engine;
mod host_values;
mod layer;
mod layout;
mod memory_plan;
mod not_computed;
mod ops;
mod padded;
mod policy;
mod resume;
mod rope;
mod sequence;
mod shorten;
mod sums;
mod workers;

pub use adamw::{AdamW, AdamWSettings};
pub use adapter::{AdapterSettings, Lora, Target};
pub use config::{Architecture, ModelConfig};
pub use engine::{Engine, EngineSettings};
pub use gradients::{GradientNorms, Gradients};
pub use memory_plan::MemoryPlan;
pub use policy::Policy;
pub use resume::{load_state, save_state};
pub use rope::RopeScaling;
pub use sequence::{Sequence, TokenStats};

/// Reads the configuration and all weights of a checkpoint, for their errors.
pub fn read_checkpoint(folder: &std::path::Path) -> stapo_base::error::Result<()> {
    let (config, _) = checkpoint::read_config(folder)?;
    checkpoint::read_tensors(folder, &layout::Layout::new(&config), |_, _| ())
}

/// The shape of a checkpoint's model, without its weights.
pub(crate) fn read_shape(folder: &std::path::Path) -> stapo_base::error::Result<ModelConfig> {
    checkpoint::read_config(folder).map(|(config, _)| config)
}
