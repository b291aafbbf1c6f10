//! What a replay is told, resolved.

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::model::AdapterSettings;
use super::objective::ObjectiveSettings;
use stapo_base::condition::Condition;
use stapo_framework::rules::Rule;
use stapo_result::replay::OldPolicy;

/// Learning rate where neither the user nor the log says one: what runs of this kind use.
pub const DEFAULT_RATE: f64 = 1e-6;

/// AdamW, as PyTorch has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OptimizerSettings {
    /// Learning rate; `None` takes the log's, else 1e-6.
    pub learning_rate: Option<f64>,
    /// β₁ and β₂.
    pub betas: (f64, f64),
    /// ε.
    pub eps: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Updates over which the learning rate rises to its value.
    pub warmup: u64,
    /// The gradient's global norm is clipped to this.
    pub max_grad_norm: f64,
}

impl Default for OptimizerSettings {
    fn default() -> Self {
        Self {
            learning_rate: None,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.0,
            warmup: 0,
            max_grad_norm: 1.0,
        }
    }
}

impl OptimizerSettings {
    /// The learning rate after its rise.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.learning_rate.unwrap_or(DEFAULT_RATE)
    }

    /// The learning rate of an update, from 0.
    #[must_use]
    pub fn rate_at(&self, update: u64) -> f64 {
        let risen = if self.warmup == 0 { 1.0 } else { (update + 1) as f64 / self.warmup as f64 };
        self.rate() * risen.min(1.0)
    }
}

/// Everything that defines a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplaySettings {
    /// The objectives, in the order of the arms.
    pub objectives: Vec<Rule>,
    /// What objectives are told.
    pub objective: ObjectiveSettings,
    /// Checkpoint; `None` fits a surrogate.
    pub model: Option<PathBuf>,
    /// Train a low-rank adapter of the checkpoint instead of all of it.
    pub adapter: Option<AdapterSettings>,
    /// Device, as the user named it.
    pub device: String,
    /// Tokens of a micro-batch.
    pub tokens_per_microbatch: Option<usize>,
    /// Recompute activations in the backward pass.
    pub gradient_checkpointing: bool,
    /// Matrix products in bfloat16, where the device can.
    pub half_products: bool,
    /// Bytes of the device's memory to plan with; `None` takes what is free.
    pub device_memory: Option<u64>,
    /// Worker threads of the engine; 0 is one a core. The result does not depend on them.
    #[serde(skip)]
    pub threads: usize,
    /// Only the first responses of the log.
    pub responses: Option<u64>,
    /// Only the first steps of the log.
    pub steps: Option<u64>,
    /// Responses of a mini-batch.
    pub minibatch: Option<u64>,
    /// Passes over each step.
    pub epochs: u64,
    /// The optimizer.
    pub optimizer: OptimizerSettings,
    /// Weight of the divergence from the start.
    pub kl_beta: f64,
    /// Seeds of every objective.
    pub seeds: u64,
    /// Order mini-batches by the seed.
    pub shuffle: bool,
    /// When a response counts as correct; `None` decides by the log's rewards.
    #[serde(serialize_with = "as_written")]
    pub pass: Option<Condition>,
    /// Share of the prompts that is held out.
    pub holdout: f64,
    /// Old log-probabilities.
    pub old: OldPolicy,
    /// Drift at which `auto` stops to trust the log.
    pub drift_limit: f64,
    /// Updates of a surrogate's fit at most.
    pub surrogate_updates: u64,
    /// Correlation at which a surrogate's fit ends.
    pub surrogate_correlation: f64,
    /// Flagged tokens get the policy's alternatives.
    pub explain: bool,
    /// Seconds between checkpoints; 0 after every step.
    #[serde(skip)]
    pub checkpoint_seconds: f64,
    /// Keep final policies here.
    #[serde(skip)]
    pub save: Option<PathBuf>,
    /// Stop after so many minutes, with what is done then.
    #[serde(skip)]
    pub max_minutes: Option<f64>,
}

fn as_written<S: Serializer>(condition: &Option<Condition>, serializer: S) -> Result<S::Ok, S::Error> {
    condition.as_ref().map(|c| c.text.as_str()).serialize(serializer)
}

impl Default for ReplaySettings {
    fn default() -> Self {
        Self {
            objectives: Vec::new(),
            objective: ObjectiveSettings::default(),
            model: None,
            adapter: None,
            device: "cpu".into(),
            tokens_per_microbatch: None,
            gradient_checkpointing: false,
            half_products: false,
            device_memory: None,
            threads: 0,
            responses: None,
            steps: None,
            minibatch: None,
            epochs: 1,
            optimizer: OptimizerSettings::default(),
            kl_beta: 0.0,
            seeds: 1,
            shuffle: true,
            pass: None,
            holdout: 0.2,
            old: OldPolicy::Auto,
            drift_limit: 0.05,
            surrogate_updates: 2400,
            surrogate_correlation: 0.9,
            explain: false,
            checkpoint_seconds: 60.0,
            save: None,
            max_minutes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_rises_linearly() {
        let settings =
            OptimizerSettings { learning_rate: Some(1.0), warmup: 4, ..OptimizerSettings::default() };
        let rates: Vec<f64> = (0..6).map(|u| settings.rate_at(u)).collect();
        assert_eq!(rates, [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]);
        assert_eq!(OptimizerSettings { warmup: 0, ..settings }.rate_at(0), 1.0);
    }
}
