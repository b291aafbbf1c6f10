//! How a device's memory is shared between parameters, optimizer, gradients and forward passes.

use super::super::body::Keep;
use super::super::config::ModelConfig;
use super::super::layout::Layout;
use super::output::{CHUNK, CHUNK_ROWS};

/// Tokens that go through the model together at most: beyond, kernels get no faster.
const MOST_TOKENS: usize = 16 << 10;
/// Fewer are not worth a launch.
const FEWEST_TOKENS: usize = 1 << 10;
/// What is assumed of a device that does not say how much memory it has.
const ASSUMED: u64 = 8 << 30;
/// Share of a device's memory that is planned with; the rest is the driver's and the allocator's.
const PLANNED: f64 = 0.9;

/// Bytes that a policy in training takes whatever the batch is, beside what a forward pass needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The policy, and the start it is compared with, which share what is not trained; with the rounded
    /// copy of matrices.
    pub parameters: u64,
    /// Both moments of AdamW.
    pub optimizer: u64,
    /// One gradient.
    pub gradients: u64,
    /// Logits and scores of the moment.
    pub workspace: u64,
}

impl Standing {
    /// Of a model in float32.
    pub fn new(config: &ModelConfig, layout: &Layout, half: bool) -> Self {
        let one = 4 * layout.trained_len() as u64;
        let head = (config.vocab_size * config.hidden_size) as u64;
        // Frozen matrices of layers are rounded where they are; the output's has a copy.
        let rounded = one / 2 + if layout.lora.is_some() { 2 * head } else { 0 };
        // Logits, probabilities and their gradient; scores, probabilities and their gradients.
        let logits = 4 * (CHUNK as u64).min((CHUNK_ROWS * config.vocab_size) as u64);
        // The output matrix in three parts of bfloat16: once, and on the way back again where factors are
        // float32; these and scores take as much again in parts.
        let parts = if half { 1 } else { 2 };
        Self {
            parameters: layout.frozen_bytes(half) + 2 * one + if half { rounded } else { 0 },
            optimizer: 2 * one,
            gradients: one,
            workspace: 4 * logits + parts * 6 * head + (parts << 30),
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.parameters + self.optimizer + self.gradients + self.workspace
    }
}

/// What is left for batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Tokens that go through the model together.
    pub tokens: usize,
    /// Bytes of forward passes that are kept until their way back.
    pub tape_bytes: usize,
    /// Logits that are kept.
    pub kept_logits: usize,
}

/// Shares what a device has left beside a policy.
pub fn budget(config: &ModelConfig, layout: &Layout, memory: Option<u64>, keep: Keep, half: bool) -> Budget {
    let planned = (memory.unwrap_or(ASSUMED) as f64 * PLANNED) as u64;
    let left = planned.saturating_sub(Standing::new(config, layout, half).total());
    let token = tape_bytes(config, 1, keep, half).max(1)
        + tape_bytes(config, 1, Keep::Everything, half) / config.layers.max(1);
    let tokens = (left as usize / 2 / token).clamp(FEWEST_TOKENS, MOST_TOKENS);
    // Float32 factors come and go in parts of many sizes; the pages that these leave half empty were as
    // much again as what had been planned.
    let kept = if half { 3 } else { 2 };
    Budget { tokens, tape_bytes: left as usize / 4 * kept, kept_logits: left as usize / 8 / 4 }
}

/// Bytes that the tape of so many tokens takes.
pub fn tape_bytes(config: &ModelConfig, tokens: usize, keep: Keep, half: bool) -> usize {
    let (hidden, qkv, heads) = (config.hidden_size, config.qkv_width(), config.heads * config.head_dim);
    let factors = (2 * hidden + heads) * if half { 2 } else { 4 };
    let everything = factors + 4 * (2 * hidden + 2 * qkv + config.heads + 2 * config.intermediate_size);
    let token = match keep {
        Keep::Nothing => 0,
        Keep::Inputs => 4 * hidden,
        Keep::Everything => everything,
    };
    tokens.saturating_mul(token * config.layers + 8 * hidden)
}
