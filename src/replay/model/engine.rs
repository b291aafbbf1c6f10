//! Measures and differentiates batches of sequences.

use burn::tensor::{Device, FloatDType};

use super::body::{Body, Keep, Tape, tape_bytes};
use super::gradients::Gradients;
use super::host_values::host_values;
use super::ops::Compute;
use super::policy::Policy;
use super::sequence::{Pack, Sequence, TokenStats, pack};
use super::workers::Workers;
use crate::error::{Error, Result};
use crate::replay::device::shares_host_memory;

/// How to compute; nothing here changes what is computed beyond rounding.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Where the policy is.
    pub device: Device,
    /// Threads of the processor. The result does not depend on them.
    pub threads: usize,
    /// Tokens that go through the model together. Gradients of such micro-batches are summed in their
    /// order; another size changes the last digits.
    pub tokens_per_microbatch: usize,
    /// Keep only the inputs of layers and compute them again on the way back: less memory, a third
    /// more time, the same bits.
    pub gradient_checkpointing: bool,
    /// Multiply the matrices of layers in bfloat16, where the device computes with it. Parameters,
    /// optimizer, norms, softmax and log-probabilities stay in float32.
    pub half_products: bool,
    /// Bytes of forward passes that are kept until their way back; what does not fit is computed again.
    pub tape_bytes: usize,
}

impl EngineSettings {
    /// All processors, micro-batches of 512 tokens, a gibibyte of kept forward passes.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            tokens_per_microbatch: 512,
            gradient_checkpointing: false,
            half_products: false,
            tape_bytes: 1 << 30,
        }
    }
}

/// Beyond this many parameters a worker's gradient takes so much memory, and its matrices are so
/// large, that all threads better work on one pack.
const LARGE_MODEL: usize = 50_000_000;

/// Runs policies over sequences.
#[derive(Debug)]
pub struct Engine {
    compute: Compute,
    tokens_per_microbatch: usize,
    keep: Keep,
    tape_bytes: usize,
    /// One thread each.
    side_by_side: Workers,
    /// All threads on one pack.
    together: Workers,
}

impl Engine {
    /// Starts its threads.
    pub fn new(settings: &EngineSettings) -> Result<Self> {
        if settings.threads == 0 || settings.tokens_per_microbatch == 0 {
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
        let compute = Compute::new(&settings.device);
        let compute = if settings.half_products { compute.with_half_products() } else { compute };
        // Another device has its own queue; more workers would only take turns.
        let workers = if shares_host_memory(&settings.device) { settings.threads } else { 1 };
        Ok(Self {
            compute,
            tokens_per_microbatch: settings.tokens_per_microbatch,
            keep: if settings.gradient_checkpointing { Keep::Inputs } else { Keep::Everything },
            tape_bytes: settings.tape_bytes,
            side_by_side: Workers::new(workers, 1)?,
            together: Workers::new(1, settings.threads)?,
        })
    }

    /// What the policy says about every response token. Nothing is kept.
    pub fn measure(&self, policy: &Policy, batch: &[Sequence]) -> Result<Vec<TokenStats>> {
        let packs = self.packs(policy, batch)?;
        let body = self.body(policy, &packs);
        let stats =
            self.workers(policy).map(packs.iter().collect(), |pack| body.forward(pack, Keep::Nothing).0);
        Ok(per_sequence(batch, stats))
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
        let packs = self.packs(policy, batch)?;
        let body = self.body(policy, &packs);
        let mut left = self.tape_bytes;
        let plan: Vec<(&Pack, Keep)> = packs
            .iter()
            .map(|pack| {
                let bytes = tape_bytes(policy, pack, self.keep);
                let fits = bytes <= left;
                left -= if fits { bytes } else { 0 };
                (pack, if fits { self.keep } else { Keep::Nothing })
            })
            .collect();
        let workers = self.workers(policy);
        let (stats, tapes): (Vec<TokenStats>, Vec<Option<Tape>>) =
            workers.map(plan, |(pack, keep)| body.forward(pack, keep)).into_iter().unzip();
        let stats = per_sequence(batch, stats);
        let weights = weigh(&stats)?;
        check_shape(&stats, &weights)?;
        let work = packs
            .iter()
            .zip(tapes)
            .map(|(pack, tape)| (pack, tape, weights[pack.sequences.clone()].concat()));
        let gradients = workers.fold(
            work.collect(),
            Gradients::none(policy),
            |(pack, tape, weights)| self.backward(policy, &body, pack, tape, &weights),
            Gradients::add,
        );
        Ok((stats, gradients))
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
        let packs = self.packs(policy, std::slice::from_ref(&start))?;
        let body = self.body(policy, &packs);
        let pi = self.together.map(packs, |pack| host_values(&body.last_distribution(&pack)));
        let mut ranked: Vec<(u32, f32)> = (0..).zip(pi.into_iter().flatten()).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.truncate(k);
        Ok(ranked)
    }

    /// Gradients of a policy that exist at one time, at most.
    pub fn gradient_copies(&self, policy: &Policy) -> usize {
        self.workers(policy).len() + 1
    }

    /// Bytes of forward passes that are kept between the passes of a mini-batch of so many tokens.
    pub fn kept_bytes(&self, policy: &Policy, tokens: u64) -> u64 {
        let config = &policy.config;
        let width = 4 * config.hidden_size + 2 * config.qkv_width() + 2 * config.intermediate_size;
        let all = tokens.saturating_mul(4 * (config.layers * width) as u64);
        all.min(self.tape_bytes as u64)
    }

    fn backward(
        &self,
        policy: &Policy,
        body: &Body<'_>,
        pack: &Pack,
        tape: Option<Tape>,
        weights: &[f32],
    ) -> Gradients {
        if weights.iter().all(|c| *c == 0.0) {
            return Gradients::none(policy);
        }
        match tape.or_else(|| body.forward(pack, self.keep).1) {
            Some(tape) => body.backward(pack, tape, weights),
            None => Gradients::none(policy),
        }
    }

    fn packs(&self, policy: &Policy, batch: &[Sequence]) -> Result<Vec<Pack>> {
        pack(batch, self.tokens_per_microbatch, policy.config.vocab_size)
    }

    fn body<'a>(&'a self, policy: &'a Policy, packs: &[Pack]) -> Body<'a> {
        Body::new(&self.compute, policy, packs.iter().map(Pack::longest).max().unwrap_or(0))
    }

    fn workers(&self, policy: &Policy) -> &Workers {
        if policy.parameter_count() > LARGE_MODEL { &self.together } else { &self.side_by_side }
    }
}

fn per_sequence(batch: &[Sequence], packs: Vec<TokenStats>) -> Vec<TokenStats> {
    let mut all = TokenStats::default();
    packs.into_iter().for_each(|part| all.append(part));
    let mut start = 0;
    let cut = |sequence: &Sequence| {
        let rows = start..start + sequence.response().len();
        start = rows.end;
        all.slice(rows)
    };
    batch.iter().map(cut).collect()
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
        let mut tensors = Engine::new(&EngineSettings::new(&device)).unwrap();
        tensors.compute = Compute::by_tensors(&device);
        let batch: Vec<Sequence> = [90, 7]
            .map(|n| Sequence { tokens: (0..n).map(|i| i * i % 96).collect(), response_start: 3 })
            .to_vec();
        let weigh = |stats: &[TokenStats]| {
            Ok(stats.iter().map(|s| s.logprob.iter().map(|l| l.sin()).collect()).collect())
        };
        for name in ["qwen2", "qwen3", "llama"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/replay").join(name);
            let policy = Policy::load(&folder, &device).unwrap();
            let (stats, gradients) = fused.differentiate(&policy, &batch, weigh).unwrap();
            let (stats_again, gradients_again) = tensors.differentiate(&policy, &batch, weigh).unwrap();
            for (a, b) in stats.iter().zip(&stats_again) {
                assert!(a.logprob.iter().zip(&b.logprob).all(|(a, b)| (a - b).abs() < 1e-5), "{name}");
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
