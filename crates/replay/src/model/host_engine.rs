//! Batches on the processor: packs side by side on threads, fused loops, gradients summed in order.

use super::body::{Body, Keep, Tape, tape_bytes};
use super::config::ModelConfig;
use super::gradients::Gradients;
use super::host_values::host_values;
use super::layout::Layout;
use super::memory_plan::MemoryPlan;
use super::ops::Compute;
use super::policy::Policy;
use super::sequence::{Pack, Sequence, TokenStats, pack};
use super::workers::Workers;
use stapo_base::error::Result;

/// Beyond this many parameters a worker's gradient takes so much memory, and its matrices are so
/// large, that all threads better work on one pack.
const LARGE_MODEL: usize = 50_000_000;
/// Tokens of a micro-batch where none are asked for.
const TOKENS: usize = 512;
/// Bytes of kept forward passes where none are asked for.
const TAPES: usize = 1 << 30;

/// Runs policies over sequences in the processor's memory.
#[derive(Debug)]
pub(super) struct HostEngine {
    compute: Compute,
    tokens: usize,
    keep: Keep,
    tape_bytes: usize,
    /// One thread each.
    side_by_side: Workers,
    /// All threads on one pack.
    together: Workers,
}

impl HostEngine {
    pub(super) fn new(
        compute: Compute,
        threads: usize,
        tokens: Option<usize>,
        keep: Keep,
        tape_bytes: Option<usize>,
    ) -> Result<Self> {
        Ok(Self {
            compute,
            tokens: tokens.unwrap_or(TOKENS),
            keep,
            tape_bytes: tape_bytes.unwrap_or(TAPES),
            side_by_side: Workers::new(threads, 1)?,
            together: Workers::new(1, threads)?,
        })
    }

    /// A list of statistics for every pack, in the order of the batch.
    pub(super) fn measure(&self, policy: &Policy, batch: &[Sequence]) -> Vec<TokenStats> {
        let packs = self.packs(batch);
        let body = self.body(policy, &packs);
        let stats = self
            .workers(policy.parameter_count())
            .map(packs.iter().collect(), |pack| body.forward(pack, Keep::Nothing).0);
        per_sequence(batch, stats)
    }

    pub(super) fn differentiate(
        &self,
        policy: &Policy,
        batch: &[Sequence],
        weigh: impl FnOnce(&[TokenStats]) -> Result<Vec<Vec<f32>>>,
    ) -> Result<(Vec<TokenStats>, Gradients)> {
        let packs = self.packs(batch);
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
        let workers = self.workers(policy.parameter_count());
        let (stats, tapes): (Vec<TokenStats>, Vec<Option<Tape>>) =
            workers.map(plan, |(pack, keep)| body.forward(pack, keep)).into_iter().unzip();
        let stats = per_sequence(batch, stats);
        let weights = weigh(&stats)?;
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

    pub(super) fn last_distribution(&self, policy: &Policy, sequence: &Sequence) -> Vec<f32> {
        let packs = self.packs(std::slice::from_ref(sequence));
        let body = self.body(policy, &packs);
        let pi = self.together.map(packs, |pack| host_values(&body.last_distribution(&pack)));
        pi.into_iter().flatten().collect()
    }

    /// The policy, the start, moments, a gradient a worker and their sum, kept forward passes; what is not
    /// trained is there once.
    pub(super) fn memory_plan(&self, config: &ModelConfig, layout: &Layout, tokens: u64) -> MemoryPlan {
        let (model, trained) = (layout.model_len(), layout.trained_len());
        let one = 4 * trained as u64;
        let width = 4 * config.hidden_size + 2 * config.qkv_width() + 2 * config.intermediate_size;
        let all = tokens.saturating_mul(4 * (config.layers * width) as u64);
        MemoryPlan {
            model: model as u64,
            trained: trained as u64,
            parameters: 2 * one + layout.frozen_bytes(self.compute.rounds()),
            optimizer: 2 * one,
            gradients: (self.workers(model).len() as u64 + 1) * one,
            activations: all.min(self.tape_bytes as u64),
            device: None,
        }
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

    fn packs(&self, batch: &[Sequence]) -> Vec<Pack> {
        pack(batch, self.tokens)
    }

    fn body<'a>(&'a self, policy: &'a Policy, packs: &[Pack]) -> Body<'a> {
        Body::new(&self.compute, policy, packs.iter().map(Pack::longest).max().unwrap_or(0))
    }

    fn workers(&self, parameters: usize) -> &Workers {
        if parameters > LARGE_MODEL { &self.together } else { &self.side_by_side }
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
