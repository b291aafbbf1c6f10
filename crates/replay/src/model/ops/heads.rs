//! How heads lie in the rows of a pack, and in the order that attention multiplies in.

use burn::tensor::Tensor;

use super::super::config::ModelConfig;
use super::super::rope::RotaryTable;

/// How a row of queries, keys and values is divided.
#[derive(Debug, Clone, Copy)]
pub struct HeadShape {
    pub kv_heads: usize,
    pub group: usize,
    pub width: usize,
}

impl HeadShape {
    /// Numbers of a row.
    pub fn row(&self) -> usize {
        (self.kv_heads * self.group + 2 * self.kv_heads) * self.width
    }
}

/// One of the three parts of a row.
#[derive(Debug, Clone, Copy)]
pub struct HeadPart {
    /// Its first column.
    pub offset: usize,
    /// Heads of it per key head.
    pub per_key: usize,
    /// Whether positions turn it.
    pub turned: bool,
}

/// The head layout of a model with the angles of its positions.
#[derive(Debug, Clone)]
pub struct Heads {
    pub shape: HeadShape,
    pub eps: f64,
    table: RotaryTable,
}

/// What the per-head norms are, or got as gradients.
pub type HeadNorms<T> = Option<(T, T)>;

/// Queries per block of a sequence, keys and values per sequence: [key head, rows, width].
#[derive(Debug, Clone)]
pub struct Packed {
    pub q: Vec<Tensor<3>>,
    pub k: Vec<Tensor<3>>,
    pub v: Vec<Tensor<3>>,
}

impl Heads {
    /// For sequences of up to `positions` tokens.
    pub fn new(config: &ModelConfig, positions: usize) -> Self {
        let scaling = &config.rope_scaling;
        Self {
            shape: HeadShape { kv_heads: config.kv_heads, group: config.group(), width: config.head_dim },
            eps: config.rms_norm_eps,
            table: RotaryTable::new(config.head_dim, config.rope_theta, scaling, positions),
        }
    }

    /// Query heads per key head.
    pub fn group(&self) -> usize {
        self.shape.group
    }

    /// What scores are multiplied with.
    pub fn scale(&self) -> f64 {
        1.0 / (self.shape.width as f64).sqrt()
    }

    /// Queries, keys and values.
    pub fn parts(&self) -> [HeadPart; 3] {
        let HeadShape { kv_heads, group, width } = self.shape;
        let keys = kv_heads * group * width;
        [
            HeadPart { offset: 0, per_key: group, turned: true },
            HeadPart { offset: keys, per_key: 1, turned: true },
            HeadPart { offset: keys + kv_heads * width, per_key: 1, turned: false },
        ]
    }

    /// cos and sin of some positions.
    pub fn angles(&self, first: usize, tokens: usize) -> (&[f32], &[f32]) {
        let rows = first * self.table.half..(first + tokens) * self.table.half;
        (&self.table.cos[rows.clone()], &self.table.sin[rows])
    }
}
