//! The shape of an adapter: which layers have one, and how large it is.

use stapo_base::named;

/// What PEFT puts before the name of a module.
pub const PREFIX: &str = "base_model.model.";

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
}
