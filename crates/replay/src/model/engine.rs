//! Measures and differentiates batches of sequences.

use burn::tensor::{Device, FloatDType};

use super::adapter::Lora;
use super::body::Keep;
use super::config::ModelConfig;
use super::gradients::Gradients;
use super::host_engine::HostEngine;
use super::layout::Layout;
use super::memory_plan::MemoryPlan;
use super::ops::Compute;
use super::padded::PaddedEngine;
use super::policy::Policy;
use super::sequence::{Sequence, TokenStats, check};
use crate::device::{memory_of, shares_host_memory};
use stapo_base::error::{Error, Result};

/// How to compute; nothing here changes what is computed beyond rounding.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Where the policy is.
    pub device: Device,
    /// Threads of the processor. The result does not depend on them.
    pub threads: usize,
    /// Tokens that go through the model together; `None` takes what suits the device. Gradients of
    /// such micro-batches are summed in their order; another size changes the last digits.
    pub tokens_per_microbatch: Option<usize>,
    /// Keep only the inputs of layers and compute them again on the way back: less memory, a third
    /// more time, the same bits.
    pub gradient_checkpointing: bool,
    /// Multiply the matrices of layers in bfloat16, where the device computes with it. Parameters,
    /// optimizer, norms, softmax and log-probabilities stay in float32.
    pub half_products: bool,
    /// Bytes of forward passes that are kept until their way back, `None` for what suits the device;
    /// what does not fit is computed again.
    pub tape_bytes: Option<usize>,
    /// Bytes of the device's memory to plan with, `None` for what it has free.
    pub memory: Option<u64>,
    /// Compute by tensor operations on padded batches, as devices with memory of their own need it,
    /// instead of by fused loops over the processor's memory.
    pub padded: bool,
}

impl EngineSettings {
    /// All processors, and what suits the device.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            tokens_per_microbatch: None,
            gradient_checkpointing: false,
            half_products: false,
            tape_bytes: None,
            memory: None,
            padded: !shares_host_memory(device),
        }
    }
}

/// Runs policies over sequences.
#[derive(Debug)]
pub struct Engine(Way);

#[derive(Debug)]
enum Way {
    Host(HostEngine),
    Padded(PaddedEngine),
}

impl Engine {
    /// Starts its threads.
    pub fn new(settings: &EngineSettings) -> Result<Self> {
        if settings.threads == 0 || settings.tokens_per_microbatch == Some(0) {
            return Err(Error::Usage {
                message: "--threads and --tokens-per-microbatch have to be at least 1".into(),
                hint: "leave them out for the defaults".into(),
            });
        }
        if settings.half_products && !settings.device.supports_dtype(FloatDType::BF16) {
            return Err(Error::Usage {
                message: "the device does not compute with bfloat16".into(),
                hint: "use float32 there".into(),
            });
        }
        let keep = if settings.gradient_checkpointing { Keep::Inputs } else { Keep::Everything };
        let (tokens, tape_bytes) = (settings.tokens_per_microbatch, settings.tape_bytes);
        if settings.padded {
            return Ok(Self(Way::Padded(PaddedEngine {
                device: settings.device.clone(),
                half: settings.half_products,
                tokens,
                keep,
                tape_bytes,
                memory: least(settings.memory, memory_of(&settings.device)),
            })));
        }
        let compute = Compute::new(&settings.device);
        let compute = if settings.half_products { compute.with_half_products() } else { compute };
        Ok(Self(Way::Host(HostEngine::new(compute, settings.threads, tokens, keep, tape_bytes)?)))
    }

    /// Whether a first pass compiles kernels, which takes longer than the pass itself.
    pub fn compiles(&self) -> bool {
        match &self.0 {
            Way::Host(_) => false,
            Way::Padded(engine) => !shares_host_memory(&engine.device),
        }
    }

    /// What the policy says about every response token. Nothing is kept.
    pub fn measure(&self, policy: &Policy, batch: &[Sequence]) -> Result<Vec<TokenStats>> {
        check(batch, policy.config.vocab_size)?;
        Ok(match &self.0 {
            Way::Host(engine) => engine.measure(policy, batch),
            Way::Padded(engine) => engine.measure(policy, batch),
        })
    }

    /// What the policy says, and the gradient of a loss whose derivative with respect to ln π of every
    /// response token `weigh` gives, as lists in the shape of the statistics.
    pub fn differentiate<F>(
        &self,
        policy: &Policy,
        batch: &[Sequence],
        weigh: F,
    ) -> Result<(Vec<TokenStats>, Gradients)>
    where
        F: FnOnce(&[TokenStats]) -> Result<Vec<Vec<f32>>>,
    {
        check(batch, policy.config.vocab_size)?;
        let weigh = |stats: &[TokenStats]| {
            let weights = weigh(stats)?;
            check_shape(stats, &weights)?;
            Ok(weights)
        };
        match &self.0 {
            Way::Host(engine) => engine.differentiate(policy, batch, weigh),
            Way::Padded(engine) => engine.differentiate(policy, batch, weigh),
        }
    }

    /// The `k` likeliest tokens at a position of a response (from 0), with their probabilities.
    pub fn top_alternatives(
        &self,
        policy: &Policy,
        sequence: &Sequence,
        position: usize,
        k: usize,
    ) -> Result<Vec<(u32, f32)>> {
        let end = sequence.response_start + position + 1;
        if end > sequence.tokens.len() {
            return Err(Error::Usage {
                message: format!("position {position} is beyond a response of {}", sequence.response().len()),
                hint: "positions of a response are counted from 0".into(),
            });
        }
        let start = Sequence { tokens: sequence.tokens[..end].to_vec(), ..*sequence };
        check(std::slice::from_ref(&start), policy.config.vocab_size)?;
        let pi = match &self.0 {
            Way::Host(engine) => engine.last_distribution(policy, &start),
            Way::Padded(engine) => engine.last_distribution(policy, &start),
        };
        let mut ranked: Vec<(u32, f32)> = (0..).zip(pi).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.truncate(k);
        Ok(ranked)
    }

    /// Waits until the device has done what it was asked: what is timed is then what was computed.
    pub fn wait(&self) -> Result<()> {
        let Way::Padded(engine) = &self.0 else { return Ok(()) };
        engine.device.sync().map_err(|e| Error::Usage {
            message: format!("the device stopped: {e:?}").chars().take(300).collect(),
            hint: "give it less at a time: --tokens-per-microbatch 2048, --gradient-checkpointing".into(),
        })
    }

    /// Memory that training a policy of this shape takes, or an adapter of it, with mini-batches of so many
    /// tokens.
    pub fn memory_plan(&self, config: &ModelConfig, lora: Option<&Lora>, tokens: u64) -> MemoryPlan {
        let layout = lora.map_or_else(|| Layout::new(config), |lora| Layout::with_adapter(config, lora));
        match &self.0 {
            Way::Host(engine) => engine.memory_plan(config, &layout, tokens),
            Way::Padded(engine) => engine.memory_plan(config, &layout, tokens),
        }
    }
}

/// The smaller of what is asked for and what there is.
fn least(asked: Option<u64>, there: Option<u64>) -> Option<u64> {
    asked.into_iter().chain(there).min()
}

fn check_shape(stats: &[TokenStats], weights: &[Vec<f32>]) -> Result<()> {
    let fits = stats.len() == weights.len() && stats.iter().zip(weights).all(|(s, w)| s.len() == w.len());
    if fits {
        return Ok(());
    }
    Err(Error::Usage {
        message: "an objective gave another number of weights than there are tokens".into(),
        hint: "this is a mistake in the objective: please report it".into(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What devices with memory of their own compute, on the processor: the whole model by tensor
    /// operations, against the fused loops.
    #[test]
    fn tensor_operations_alone_give_the_same_model() {
        let device = Device::flex();
        let fused = Engine::new(&EngineSettings::new(&device)).unwrap();
        let tensors = Engine::new(&EngineSettings { padded: true, ..EngineSettings::new(&device) }).unwrap();
        let batch: Vec<Sequence> = [90, 7, 700, 65]
            .map(|n| Sequence { tokens: (0..n).map(|i| i * i % 96).collect(), response_start: 3 })
            .to_vec();
        let weigh = |stats: &[TokenStats]| {
            Ok(stats.iter().map(|s| s.logprob.iter().map(|l| l.sin()).collect()).collect())
        };
        for name in ["qwen2", "qwen3", "llama"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/replay").join(name);
            let policy = Policy::load(&folder, &device).unwrap();
            let (stats, gradients) = fused.differentiate(&policy, &batch, weigh).unwrap();
            let (stats_again, gradients_again) = tensors.differentiate(&policy, &batch, weigh).unwrap();
            for (a, b) in stats.iter().zip(&stats_again) {
                let mut off = a.logprob.iter().zip(&b.logprob).map(|(a, b)| (a - b).abs());
                assert!(off.all(|d| d < 1e-5), "{name}: {:?} and {:?}", a.logprob, b.logprob);
            }
            let again = gradients_again.by_name(&policy);
            for (key, values) in gradients.by_name(&policy) {
                let largest = values.iter().fold(0.0f32, |a, b| a.max(b.abs()));
                let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 2e-5 * largest;
                assert!(values.iter().zip(&again[&key]).all(near), "{name} {key}");
            }
        }
    }
}
