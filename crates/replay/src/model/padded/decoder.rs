//! Rectangles through the whole model, and back.

use burn::tensor::{Device, IndexingUpdateOp, Tensor};

use super::super::body::Keep;
use super::super::gradients::Gradients;
use super::super::host_values::host_values;
use super::super::ops::Heads;
use super::super::policy::Policy;
use super::super::sequence::TokenStats;
use super::attention::Blocks;
use super::batch::Padded;
#[cfg(feature = "cuda")]
use super::fused;
use super::heads::PaddedHeads;
use super::layer::{PaddedLayerTape, PaddedScene};
use super::output::{MEASURED, Output, OutputTape, stats};
use super::products::Products;

/// The forward pass of a rectangle.
pub struct PaddedTape {
    layers: Vec<KeptLayer>,
    output: OutputTape,
}

enum KeptLayer {
    Input(Box<Tensor<2>>),
    Tape(Box<PaddedLayerTape>),
}

/// A policy on a device, ready for rectangles up to a width.
pub struct Decoder<'a> {
    policy: &'a Policy,
    device: &'a Device,
    products: &'a Products,
    heads: Heads,
    output: Output<'a>,
}

impl<'a> Decoder<'a> {
    pub fn new(
        policy: &'a Policy,
        device: &'a Device,
        products: &'a Products,
        widest: usize,
        kept_logits: usize,
    ) -> Self {
        Self {
            policy,
            device,
            products,
            heads: Heads::new(&policy.config, widest),
            output: Output::new(policy, device, products, kept_logits),
        }
    }

    /// A table of what is measured, still on the device; the tape unless nothing is kept.
    pub fn forward(&self, padded: &Padded, keep: Keep) -> (Tensor<2>, Option<PaddedTape>) {
        let mut layers = vec![];
        let hidden = self.hidden(padded, keep, &mut layers);
        let (table, output) = self.output.forward(padded, &hidden, keep != Keep::Nothing);
        (table, output.map(|output| PaddedTape { layers, output }))
    }

    /// Reads all tables at once.
    pub fn read(&self, padded: &[Padded], tables: Vec<Tensor<2>>) -> Vec<TokenStats> {
        if tables.is_empty() {
            return vec![];
        }
        let values = host_values(&Tensor::cat(tables, 0));
        let mut rest = values.as_slice();
        let mut read = vec![];
        for padded in padded {
            let (part, after) = rest.split_at((padded.output_rows() * MEASURED).min(rest.len()));
            read.push(stats(part, padded.picked()));
            rest = after;
        }
        read
    }

    /// Probabilities of every token after the last one of a single sequence.
    pub fn last_distribution(&self, padded: &Padded) -> Vec<f32> {
        let hidden = self.hidden(padded, Keep::Nothing, &mut vec![]);
        self.output.last_distribution(padded, &hidden)
    }

    /// Adds the gradient of Σ c ln π over the response tokens.
    pub fn backward(
        &self,
        padded: &Padded,
        tape: PaddedTape,
        coefficients: &[f32],
        gradients: &mut Gradients,
    ) {
        let scene = self.scene(padded);
        let mut d = self.output.backward(padded, tape.output, coefficients, gradients);
        for (slots, kept) in self.policy.layout.layers.iter().zip(tape.layers).rev() {
            let tape = match kept {
                KeptLayer::Tape(tape) => *tape,
                KeptLayer::Input(x) => scene.forward(slots, *x).1,
            };
            d = scene.backward(slots, tape, d, gradients);
        }
        let embedding = self.policy.layout.embedding;
        if !gradients.wants(embedding) {
            return;
        }
        let sum =
            gradients.take_at(embedding).unwrap_or_else(|| self.policy.parameters[embedding].zeros_like());
        #[cfg(feature = "cuda")]
        if let Some(sum) = fused::add_rows(&sum, &padded.rows_of_tokens(self.device), &d) {
            gradients.add_at(embedding, sum);
            return;
        }
        let ids = padded.ids(self.device);
        gradients.add_at(embedding, sum.select_assign(0, ids, d, IndexingUpdateOp::Add));
    }

    fn hidden(&self, padded: &Padded, keep: Keep, layers: &mut Vec<KeptLayer>) -> Tensor<2> {
        let scene = self.scene(padded);
        let embedding = &self.policy.parameters[self.policy.layout.embedding];
        let mut x = embedding.clone().select(0, padded.ids(self.device));
        for slots in &self.policy.layout.layers {
            if keep == Keep::Inputs {
                layers.push(KeptLayer::Input(Box::new(x.clone())));
            }
            let (next, tape) = scene.forward(slots, x);
            if keep == Keep::Everything {
                layers.push(KeptLayer::Tape(Box::new(tape)));
            }
            x = next;
        }
        x
    }

    fn scene(&self, padded: &Padded) -> PaddedScene<'_> {
        let rows = padded.sequences.len();
        let heads = PaddedHeads::new(self.device, &self.heads, rows, padded.width);
        let blocks = Blocks::new(self.device, &heads, rows * self.policy.config.kv_heads);
        PaddedScene { policy: self.policy, products: self.products, heads, blocks }
    }
}
