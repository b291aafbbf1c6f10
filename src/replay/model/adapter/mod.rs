//! Low-rank adapters as PEFT defines and stores them: a matrix W of a layer becomes W + s B A, with A of
//! `rank` rows, B of `rank` columns and s = alpha / rank. W stays as it is: it has no gradient and no
//! moments, and every policy of a replay shares it.

mod config;
mod file;
mod policy;
mod terms;

use std::path::PathBuf;

use serde::Serialize;

use super::config::ModelConfig;
use super::layout::Layout;
use crate::error::{Error, Result};

pub use file::PREFIX;
pub use terms::{Multiply, add_gradients, added, input_gradient};

/// The adapter that a replay trains instead of the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AdapterSettings {
    /// One that changes nothing yet, on all linear layers of attention and feed-forward part.
    New {
        /// Rows of A.
        rank: usize,
        /// Its part is multiplied by alpha / rank.
        alpha: f64,
    },
    /// A folder as PEFT writes it.
    Saved(PathBuf),
}

impl AdapterSettings {
    /// Its shape, read and checked before any number is.
    pub fn lora(&self, config: &ModelConfig) -> Result<Lora> {
        match self {
            Self::New { rank, alpha } => Lora::on_all(*rank, *alpha).fitting(config),
            Self::Saved(folder) => file::read_lora(folder),
        }
    }
}

named! {
    /// A linear layer that an adapter can be put on, as checkpoints call it.
    pub enum Target {
        /// Queries.
        Q = "q_proj",
        /// Keys.
        K = "k_proj",
        /// Values.
        V = "v_proj",
        /// The attention's output.
        O = "o_proj",
        /// The gate of the feed-forward part.
        Gate = "gate_proj",
        /// What the gate opens.
        Up = "up_proj",
        /// The way out of the feed-forward part.
        Down = "down_proj",
    }
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Q, Self::K, Self::V, Self::O, Self::Gate, Self::Up, Self::Down];

    /// The layer of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }
}

/// The shape of an adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct Lora {
    /// Rows of A.
    pub rank: usize,
    /// What its part is multiplied by, times the rank.
    pub alpha: f64,
    /// Whether it is divided by the root of the rank instead (Kalajdzievski 2023).
    pub by_root: bool,
    /// Layers that have one.
    pub targets: Vec<Target>,
}

impl Lora {
    /// On every linear layer of attention and feed-forward part.
    pub fn on_all(rank: usize, alpha: f64) -> Self {
        Self { rank, alpha, by_root: false, targets: Target::ALL.to_vec() }
    }

    /// What B A is multiplied by.
    pub fn scale(&self) -> f64 {
        let rank = self.rank as f64;
        self.alpha / if self.by_root { rank.sqrt() } else { rank }
    }

    /// Refuses a rank that is none, or that no matrix of the model is large enough for.
    fn fitting(self, config: &ModelConfig) -> Result<Self> {
        let layout = Layout::new(config);
        let sides = layout.matrices().flat_map(|slot| {
            let parameter = &layout.parameters[slot];
            parameter.pieces.iter().flat_map(|piece| piece.shape.clone())
        });
        let smallest = sides.min().unwrap_or(0);
        if (1..=smallest).contains(&self.rank) {
            return Ok(self);
        }
        Err(Error::Usage {
            message: format!("--lora {}: the smallest matrix of this model has rank {smallest}", self.rank),
            hint: format!("give a rank from 1 to {smallest}; 8 to 64 are usual"),
        })
    }
}
