//! Batches on a device with memory of its own: one thread, one queue, few reads.

use burn::tensor::Device;

use super::super::body::Keep;
use super::super::config::ModelConfig;
use super::super::gradients::Gradients;
use super::super::layout::Layout;
use super::super::memory_plan::MemoryPlan;
use super::super::policy::Policy;
use super::super::sequence::{Sequence, TokenStats};
use super::batch::{Padded, plan};
use super::budget::{Budget, Standing, budget, tape_bytes};
use super::decoder::{Decoder, PaddedTape};
use super::products::Products;
use stapo_base::error::Result;

/// Runs policies over sequences on a device.
#[derive(Debug)]
pub struct PaddedEngine {
    pub device: Device,
    /// Multiply rounded factors.
    pub half: bool,
    /// Tokens of a rectangle, where the user says.
    pub tokens: Option<usize>,
    /// What is kept of a forward pass.
    pub keep: Keep,
    /// Bytes of kept forward passes, where the user says.
    pub tape_bytes: Option<usize>,
    /// Bytes that the device has, where it says.
    pub memory: Option<u64>,
}

impl PaddedEngine {
    /// The policy, the start, moments, gradient, and what forward passes and their ways back take.
    pub fn memory_plan(&self, config: &ModelConfig, layout: &Layout, tokens: u64) -> MemoryPlan {
        let Standing { parameters, optimizer, gradients, workspace } =
            Standing::new(config, layout, self.half);
        let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
        let tapes = tape_bytes(config, tokens, self.keep, self.half);
        let kept = tapes.min(self.budget(config, layout).tape_bytes) as u64;
        MemoryPlan {
            model: layout.model_len() as u64,
            trained: layout.trained_len() as u64,
            parameters,
            optimizer,
            gradients,
            activations: kept + workspace,
            device: self.memory,
        }
    }

    /// What fits beside a policy in training.
    fn budget(&self, config: &ModelConfig, layout: &Layout) -> Budget {
        let mut budget = budget(config, layout, self.memory, self.keep, self.half);
        budget.tokens = self.tokens.unwrap_or(budget.tokens);
        budget.tape_bytes = self.tape_bytes.unwrap_or(budget.tape_bytes);
        budget
    }

    pub fn measure(&self, policy: &Policy, batch: &[Sequence]) -> Vec<TokenStats> {
        let products = Products::new(policy, self.half);
        let budget = self.budget(&policy.config, &policy.layout);
        let padded = plan(batch, budget.tokens);
        let decoder = self.decoder(policy, &products, &padded, &budget);
        let tables = padded.iter().map(|p| decoder.forward(p, Keep::Nothing).0).collect();
        per_sequence(batch, &padded, decoder.read(&padded, tables))
    }

    pub fn differentiate(
        &self,
        policy: &Policy,
        batch: &[Sequence],
        weigh: impl FnOnce(&[TokenStats]) -> Result<Vec<Vec<f32>>>,
    ) -> Result<(Vec<TokenStats>, Gradients)> {
        let products = Products::new(policy, self.half);
        let budget = self.budget(&policy.config, &policy.layout);
        let padded = plan(batch, budget.tokens);
        let decoder = self.decoder(policy, &products, &padded, &budget);
        let mut left = budget.tape_bytes;
        let (mut tables, mut tapes): (Vec<_>, Vec<Option<PaddedTape>>) = (vec![], vec![]);
        for rectangle in &padded {
            let bytes = tape_bytes(&policy.config, rectangle.tokens(), self.keep, self.half);
            let keep = if bytes <= left { self.keep } else { Keep::Nothing };
            left -= if keep == Keep::Nothing { 0 } else { bytes };
            let (table, tape) = decoder.forward(rectangle, keep);
            tables.push(table);
            tapes.push(tape);
        }
        let stats = per_sequence(batch, &padded, decoder.read(&padded, tables));
        let weights = weigh(&stats)?;
        let mut gradients = Gradients::none(policy);
        for (rectangle, tape) in padded.iter().zip(tapes) {
            let weights: Vec<f32> =
                rectangle.sequences.iter().flat_map(|s| weights[*s].iter().copied()).collect();
            if weights.iter().all(|c| *c == 0.0) {
                continue;
            }
            if let Some(tape) = tape.or_else(|| decoder.forward(rectangle, self.keep).1) {
                decoder.backward(rectangle, tape, &weights, &mut gradients);
            }
        }
        Ok((stats, gradients))
    }

    pub fn last_distribution(&self, policy: &Policy, sequence: &Sequence) -> Vec<f32> {
        let products = Products::new(policy, self.half);
        let budget = self.budget(&policy.config, &policy.layout);
        let padded = plan(std::slice::from_ref(sequence), budget.tokens);
        let decoder = self.decoder(policy, &products, &padded, &budget);
        padded.first().map(|p| decoder.last_distribution(p)).unwrap_or_default()
    }

    fn decoder<'a>(
        &'a self,
        policy: &'a Policy,
        products: &'a Products,
        padded: &[Padded],
        budget: &Budget,
    ) -> Decoder<'a> {
        let widest = padded.iter().map(|p| p.width).max().unwrap_or(0);
        Decoder::new(policy, &self.device, products, widest, budget.kept_logits)
    }
}

/// Statistics of rectangles in the order of the batch; sequences without response have none.
fn per_sequence(batch: &[Sequence], padded: &[Padded], stats: Vec<TokenStats>) -> Vec<TokenStats> {
    let mut all = vec![TokenStats::default(); batch.len()];
    for (rectangle, stats) in padded.iter().zip(stats) {
        let mut start = 0;
        for sequence in &rectangle.sequences {
            let rows = start..start + batch[*sequence].response().len();
            start = rows.end;
            all[*sequence] = stats.slice(rows);
        }
    }
    all
}
