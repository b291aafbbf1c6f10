//! The probability × entropy plane and the distribution of entropy.

use schemars::JsonSchema;
use serde::Serialize;

/// Equal bins between two limits; values outside are in the end bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AxisSpec {
    /// Left end.
    pub low: f64,
    /// Right end.
    pub high: f64,
    /// Number of bins.
    pub bins: usize,
}

impl AxisSpec {
    /// Left edge of bin `index`.
    #[must_use]
    pub fn edge(&self, index: usize) -> f64 {
        self.low + (self.high - self.low) * (index as f64 / self.bins.max(1) as f64)
    }
}

/// Tokens by probability and entropy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Plane {
    /// log10 p.
    pub log10_prob: AxisSpec,
    /// Entropy in nats.
    pub entropy: AxisSpec,
    /// The cells that hold tokens, by (`x`, `y`).
    pub cells: Vec<PlaneCell>,
}

/// One cell of the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PlaneCell {
    /// Bin of log10 p.
    pub x: u16,
    /// Bin of the entropy.
    pub y: u16,
    /// Tokens with A > 0.
    pub positive: u64,
    /// Tokens with A < 0.
    pub negative: u64,
    /// Tokens with A = 0.
    pub zero: u64,
    /// Energy of the tokens with A > 0.
    pub positive_energy: f64,
    /// Energy of the tokens with A < 0.
    pub negative_energy: f64,
}
