//! Low-rank adapters as PEFT defines and stores them: a matrix W of a layer becomes W + s B A, with A of
//! `rank` rows, B of `rank` columns and s = alpha / rank. W stays as it is: it has no gradient and no
//! moments, and every policy of a replay shares it.

mod config;
mod file;
pub mod lora;
mod policy;
mod terms;

use std::path::PathBuf;

use serde::Serialize;

use super::config::ModelConfig;
use super::layout::Layout;
use stapo_base::error::{Error, Result};

pub use lora::{Lora, Target};
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
            Self::New { rank, alpha } => fitting(Lora::on_all(*rank, *alpha), config),
            Self::Saved(folder) => file::read_lora(folder),
        }
    }
}

/// Refuses a rank that is none, or that no matrix of the model is large enough for.
fn fitting(lora: Lora, config: &ModelConfig) -> Result<Lora> {
    let layout = Layout::new(config);
    let sides = layout.matrices().flat_map(|slot| {
        let parameter = &layout.parameters[slot];
        parameter.pieces.iter().flat_map(|piece| piece.shape.clone())
    });
    let smallest = sides.min().unwrap_or(0);
    if (1..=smallest).contains(&lora.rank) {
        return Ok(lora);
    }
    Err(Error::Usage {
        message: format!("--lora {}: the smallest matrix of this model has rank {smallest}", lora.rank),
        hint: format!("give a rank from 1 to {smallest}; 8 to 64 are usual"),
    })
}
