//! A pack through the whole model, and back.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};

use super::gradients::Gradients;
use super::head::{self, HeadTape};
use super::layer::{LayerTape, Scene};
use super::ops::{Compute, Heads, Span};
use super::policy::Policy;
use super::sequence::{Pack, TokenStats};

/// How much of the forward pass is kept for the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Nothing: there is no way back.
    Nothing,
    /// The input of every layer, which is then computed again.
    Inputs,
    /// All that the way back reads.
    Everything,
}

/// The forward pass of a pack.
pub(super) struct Tape {
    layers: Vec<Kept>,
    head: HeadTape,
}

enum Kept {
    Input(Box<Tensor<2>>),
    Tape(Box<LayerTape>),
}

/// A policy on a device, ready for packs up to a length.
pub(super) struct Body<'a> {
    compute: &'a Compute,
    policy: &'a Policy,
    heads: Heads,
}

impl<'a> Body<'a> {
    pub(super) fn new(compute: &'a Compute, policy: &'a Policy, longest: usize) -> Self {
        Self { compute, policy, heads: Heads::new(&policy.config, longest) }
    }

    /// What the policy says about the pack's response tokens; the tape unless nothing is kept.
    pub(super) fn forward(&self, pack: &Pack, keep: Keep) -> (TokenStats, Option<Tape>) {
        if pack.targets.is_empty() {
            return (TokenStats::default(), None);
        }
        let mut layers = vec![];
        let hidden = self.hidden(pack, keep, &mut layers);
        let (stats, head) = head::forward(self.compute, self.policy, pack, hidden, keep != Keep::Nothing);
        (stats, head.map(|head| Tape { layers, head }))
    }

    /// Probabilities of every token after the last one of the pack.
    pub(super) fn last_distribution(&self, pack: &Pack) -> Tensor<2> {
        let hidden = self.hidden(pack, Keep::Nothing, &mut vec![]);
        head::last_distribution(self.compute, self.policy, pack, hidden)
    }

    /// Gradient of Σ c ln π over the pack's response tokens.
    pub(super) fn backward(&self, pack: &Pack, tape: Tape, coefficients: &[f32]) -> Gradients {
        let mut gradients = Gradients::none(self.policy);
        let mut d = head::backward(self.compute, self.policy, pack, tape.head, coefficients, &mut gradients);
        let spans = spans(pack);
        let scene = self.scene(&spans);
        for (slots, kept) in self.policy.layout.layers.iter().zip(tape.layers).rev() {
            let tape = match kept {
                Kept::Tape(tape) => Some(*tape),
                Kept::Input(x) => scene.forward(slots, *x, true).1,
            };
            if let Some(tape) = tape {
                d = scene.backward(slots, tape, d, &mut gradients);
            }
        }
        let embedding = self.policy.layout.embedding;
        if !gradients.wants(embedding) {
            return gradients;
        }
        let sum =
            gradients.take_at(embedding).unwrap_or_else(|| self.policy.parameters[embedding].zeros_like());
        gradients.add_at(embedding, sum.select_assign(0, self.ids(pack), d, IndexingUpdateOp::Add));
        gradients
    }

    fn hidden(&self, pack: &Pack, keep: Keep, layers: &mut Vec<Kept>) -> Tensor<2> {
        let spans = spans(pack);
        let scene = self.scene(&spans);
        let mut x = self.policy.parameters[self.policy.layout.embedding].clone().select(0, self.ids(pack));
        for slots in &self.policy.layout.layers {
            if keep == Keep::Inputs {
                layers.push(Kept::Input(Box::new(x.clone())));
            }
            let (next, tape) = scene.forward(slots, x, keep == Keep::Everything);
            layers.extend(tape.map(|tape| Kept::Tape(Box::new(tape))));
            x = next;
        }
        x
    }

    fn scene<'s>(&'s self, spans: &'s [Span]) -> Scene<'s> {
        Scene { compute: self.compute, policy: self.policy, heads: &self.heads, spans }
    }

    fn ids(&self, pack: &Pack) -> Tensor<1, Int> {
        let ids: Vec<i32> = pack.ids.iter().map(|id| *id as i32).collect();
        Tensor::from_data(TensorData::new(ids, [pack.ids.len()]), &self.compute.device)
    }
}

/// Bytes that the tape of a pack takes, roughly: what decides whether it is kept between the passes.
pub(super) fn tape_bytes(policy: &Policy, pack: &Pack, keep: Keep) -> usize {
    let config = &policy.config;
    let heads = config.heads * config.head_dim;
    let widths = 4 * config.hidden_size + 2 * config.qkv_width() + heads + 2 * config.intermediate_size;
    let scores: usize = pack.lengths.iter().map(|l| config.heads * l * (l + 64) / 2).sum();
    let floats = match keep {
        Keep::Nothing => 0,
        Keep::Inputs => config.layers * pack.ids.len() * config.hidden_size,
        Keep::Everything => config.layers * (pack.ids.len() * widths + scores),
    };
    4 * (floats + pack.targets.len() * (2 * config.hidden_size + config.vocab_size.min(1 << 12)))
}

fn spans(pack: &Pack) -> Vec<Span> {
    let mut row = 0;
    let mut spans = Vec::with_capacity(pack.lengths.len());
    for tokens in &pack.lengths {
        spans.push(Span { row, tokens: *tokens });
        row += tokens;
    }
    spans
}
