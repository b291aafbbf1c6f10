//! Which parameters a model has: their order here, and the names and shapes they have in a checkpoint.
//!
//! Matrices that read the same input are kept as one (queries, keys and values; gate and up), so
//! that one product does the work of three; a checkpoint has them apart.

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

/// All parameters of a model and where each is.
#[derive(Debug, Clone)]
pub struct Layout {
    pub parameters: Vec<Parameter>,
    pub embedding: usize,
    pub layers: Vec<LayerSlots>,
    pub norm: usize,
    /// The output matrix: the embedding where they are tied.
    pub head: usize,
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
        Self { parameters: list.0, embedding, layers, norm, head }
    }

    /// Numbers to train.
    pub fn len(&self) -> usize {
        self.parameters.iter().map(|p| p.rows * p.columns).sum()
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
