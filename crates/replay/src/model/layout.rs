//! Which parameters a model has: their order here, and the names and shapes they have in a checkpoint.
//!
//! Matrices that read the same input are kept as one (queries, keys and values; gate and up), so
//! that one product does the work of three; a checkpoint has them apart.

use std::collections::BTreeMap;
use std::ops::Range;

use super::adapter::lora::{Lora, PREFIX, Target};
use super::config::ModelConfig;

/// A tensor of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub name: String,
    /// As the checkpoint has it: [rows, columns], or [columns] of a vector.
    pub shape: Vec<usize>,
}

impl Piece {
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A parameter as it is trained: pieces of a checkpoint, one below the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub rows: usize,
    pub columns: usize,
    pub pieces: Vec<Piece>,
}

impl Parameter {
    pub fn len(&self) -> usize {
        self.rows * self.columns
    }
}

/// Places of a layer's parameters.
#[derive(Debug, Clone)]
pub struct LayerSlots {
    pub input_norm: usize,
    pub qkv: usize,
    pub qkv_bias: Option<usize>,
    pub q_norm: Option<usize>,
    pub k_norm: Option<usize>,
    pub output: usize,
    pub output_bias: Option<usize>,
    pub mlp_norm: usize,
    pub gate_up: usize,
    pub gate_up_bias: Option<usize>,
    pub down: usize,
    pub down_bias: Option<usize>,
}

/// Places of one of the adapters of a matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterPart {
    pub a: usize,
    pub b: usize,
    /// Which of the matrix's outputs it adds to.
    pub columns: Range<usize>,
}

/// All parameters of a model and where each is.
#[derive(Debug, Clone)]
pub struct Layout {
    pub parameters: Vec<Parameter>,
    pub embedding: usize,
    pub layers: Vec<LayerSlots>,
    pub norm: usize,
    /// The output matrix: the embedding where they are tied.
    pub head: usize,
    /// So many of the first parameters are not trained: all of the model where it has an adapter.
    pub frozen: usize,
    pub lora: Option<Lora>,
    /// By the place of the matrix.
    adapters: BTreeMap<usize, Vec<AdapterPart>>,
}

impl Layout {
    pub fn new(config: &ModelConfig) -> Self {
        let mut list = List(vec![]);
        let width = config.hidden_size;
        let embedding = list.matrix(&[("model.embed_tokens.weight".into(), config.vocab_size)], width);
        let layers = (0..config.layers).map(|layer| list.layer(config, layer)).collect();
        let norm = list.vector(&[("model.norm.weight".into(), width)]);
        let head = if config.tied {
            embedding
        } else {
            list.matrix(&[("lm_head.weight".into(), config.vocab_size)], width)
        };
        let adapters = BTreeMap::new();
        Self { parameters: list.0, embedding, layers, norm, head, frozen: 0, lora: None, adapters }
    }

    /// With an adapter behind the model's own parameters.
    pub fn with_adapter(config: &ModelConfig, lora: &Lora) -> Self {
        let mut layout = Self::new(config);
        layout.frozen = layout.parameters.len();
        let slots: Vec<usize> = layout.matrices().collect();
        let mut list = List(std::mem::take(&mut layout.parameters));
        for slot in slots {
            let parts = list.adapters(slot, lora);
            layout.adapters.insert(slot, parts);
        }
        Self { parameters: list.0, lora: Some(lora.clone()), ..layout }
    }

    /// Places of the layers' matrices.
    pub fn matrices(&self) -> impl Iterator<Item = usize> + '_ {
        self.layers.iter().flat_map(|l| [l.qkv, l.output, l.gate_up, l.down])
    }

    /// The adapters of the matrix at a place, in the order of its outputs.
    pub fn adapter_of(&self, weight: usize) -> &[AdapterPart] {
        self.adapters.get(&weight).map_or(&[], Vec::as_slice)
    }

    /// What an adapter's part is multiplied by.
    pub fn adapter_scale(&self) -> f64 {
        self.lora.as_ref().map_or(0.0, Lora::scale)
    }

    /// The parameters that are trained.
    pub fn trained(&self) -> &[Parameter] {
        &self.parameters[self.frozen..]
    }

    /// Numbers to train.
    pub fn trained_len(&self) -> usize {
        self.trained().iter().map(Parameter::len).sum()
    }

    /// Numbers of the model itself.
    pub fn model_len(&self) -> usize {
        let own = if self.lora.is_some() { self.frozen } else { self.parameters.len() };
        self.parameters[..own].iter().map(Parameter::len).sum()
    }

    /// Bytes of what stays as it is: matrices of layers in bfloat16 where products are rounded to it.
    pub fn frozen_bytes(&self, half: bool) -> u64 {
        let all: usize = self.parameters[..self.frozen].iter().map(Parameter::len).sum();
        let matrices: usize = self.matrices().map(|slot| self.parameters[slot].len()).sum();
        let rounded = if half && self.frozen > 0 { matrices } else { 0 };
        (4 * all - 2 * rounded) as u64
    }
}

struct List(Vec<Parameter>);

impl List {
    fn layer(&mut self, config: &ModelConfig, layer: usize) -> LayerSlots {
        let name = |rest: &str| format!("model.layers.{layer}.{rest}");
        let (width, inner, head) = (config.hidden_size, config.intermediate_size, config.head_dim);
        let (queries, keys) = (config.heads * head, config.kv_heads * head);
        let qkv = |kind: &str| {
            [("q", queries), ("k", keys), ("v", keys)]
                .map(|(part, rows)| (name(&format!("self_attn.{part}_proj.{kind}")), rows))
        };
        let gate_up = |kind: &str| {
            [("gate", inner), ("up", inner)]
                .map(|(part, rows)| (name(&format!("mlp.{part}_proj.{kind}")), rows))
        };
        let one = |rest: &str, size: usize| [(name(rest), size)];
        LayerSlots {
            input_norm: self.vector(&one("input_layernorm.weight", width)),
            qkv: self.matrix(&qkv("weight"), width),
            qkv_bias: config.qkv_bias.then(|| self.vector(&qkv("bias"))),
            q_norm: config.qk_norm().then(|| self.vector(&one("self_attn.q_norm.weight", head))),
            k_norm: config.qk_norm().then(|| self.vector(&one("self_attn.k_norm.weight", head))),
            output: self.matrix(&one("self_attn.o_proj.weight", width), queries),
            output_bias: config.output_bias.then(|| self.vector(&one("self_attn.o_proj.bias", width))),
            mlp_norm: self.vector(&one("post_attention_layernorm.weight", width)),
            gate_up: self.matrix(&gate_up("weight"), width),
            gate_up_bias: config.mlp_bias.then(|| self.vector(&gate_up("bias"))),
            down: self.matrix(&one("mlp.down_proj.weight", width), inner),
            down_bias: config.mlp_bias.then(|| self.vector(&one("mlp.down_proj.bias", width))),
        }
    }

    /// A and B for every piece of a matrix that has an adapter.
    fn adapters(&mut self, slot: usize, lora: &Lora) -> Vec<AdapterPart> {
        let Parameter { columns: width, pieces, .. } = self.0[slot].clone();
        let mut parts = vec![];
        let mut end = 0;
        for Piece { name, shape } in pieces {
            let rows = shape[0];
            let module = name.trim_end_matches(".weight");
            end += rows;
            let target = module.rsplit('.').next().and_then(Target::of);
            if target.is_some_and(|target| lora.targets.contains(&target)) {
                let part = |kind: &str| format!("{PREFIX}{module}.lora_{kind}.weight");
                let a = self.matrix(&[(part("A"), lora.rank)], width);
                let b = self.matrix(&[(part("B"), rows)], lora.rank);
                parts.push(AdapterPart { a, b, columns: end - rows..end });
            }
        }
        parts
    }

    fn matrix(&mut self, parts: &[(String, usize)], columns: usize) -> usize {
        let pieces =
            parts.iter().map(|(name, rows)| Piece { name: name.clone(), shape: vec![*rows, columns] });
        let rows = parts.iter().map(|(_, rows)| rows).sum();
        self.push(Parameter { rows, columns, pieces: pieces.collect() })
    }

    fn vector(&mut self, parts: &[(String, usize)]) -> usize {
        let pieces = parts.iter().map(|(name, size)| Piece { name: name.clone(), shape: vec![*size] });
        let columns = parts.iter().map(|(_, size)| size).sum();
        self.push(Parameter { rows: 1, columns, pieces: pieces.collect() })
    }

    fn push(&mut self, parameter: Parameter) -> usize {
        self.0.push(parameter);
        self.0.len() - 1
    }
}
