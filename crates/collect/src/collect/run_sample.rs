//! The tokens that were kept of the whole run.

use super::kept_sample::KeptSample;
use super::sample::{Sampled, SampledToken};

/// The sample of the whole run.
#[derive(Debug, Default)]
pub struct Sample<T = SampledToken> {
    /// In an order that depends on the tokens alone.
    pub tokens: Vec<T>,
    /// One of 2^level tokens was kept.
    pub level: u32,
}

impl<T: Sampled> Sample<T> {
    /// What was kept of the whole run, settled.
    pub fn new(kept: KeptSample<T>) -> Self {
        Self { level: kept.census.level(), tokens: kept.tokens.into_list() }
    }

    /// Whether it holds all tokens.
    pub fn is_complete(&self) -> bool {
        self.level == 0
    }

    /// The tokens, each with the number of tokens that it stands for.
    pub fn weighted(&self) -> impl Iterator<Item = (&T, f64)> {
        let weight = self.weight();
        self.tokens.iter().map(move |token| (token, weight))
    }

    /// How many tokens of the run one kept token stands for.
    pub fn weight(&self) -> f64 {
        2.0_f64.powi(i32::try_from(self.level).unwrap_or(i32::MAX))
    }
}
