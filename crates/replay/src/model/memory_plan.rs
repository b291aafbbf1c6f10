//! What training a policy takes of a memory.

use stapo_base::format::bytes;

/// Bytes that training takes, by what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Numbers of the model.
    pub model: u64,
    /// Numbers that are trained: all, or an adapter's.
    pub trained: u64,
    /// The policy in training and the start, with rounded copies where products are rounded.
    pub parameters: u64,
    /// Both moments of AdamW.
    pub optimizer: u64,
    /// Gradients.
    pub gradients: u64,
    /// Kept forward passes, and logits and scores of the moment.
    pub activations: u64,
    /// Bytes of the device, where it says.
    pub device: Option<u64>,
}

impl MemoryPlan {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.parameters + self.optimizer + self.gradients + self.activations
    }

    /// What does not get smaller with the batch.
    #[must_use]
    pub fn standing(&self) -> u64 {
        self.parameters + self.optimizer + self.gradients
    }

    /// As a part of a sentence, with the bytes of the log, which are the processor's in any case.
    #[must_use]
    pub fn told(&self, log: u64) -> String {
        let Some(device) = self.device else {
            return format!("about {} of memory", bytes(self.total() + log));
        };
        format!(
            "parameters {}, AdamW {}, gradients {}, activations {} of {} on the device",
            bytes(self.parameters),
            bytes(self.optimizer),
            bytes(self.gradients),
            bytes(self.activations),
            bytes(device),
        )
    }
}
