//! What the framework found for the trained tokens of one response, side by side.

use std::ops::Range;

use crate::analyze::collect::block::{Block, BlockSign};
use crate::analyze::collect::energy::Sign;
use crate::framework::batch::flags;

/// Columns of a response's trained tokens; reused.
#[derive(Clone, Debug, Default)]
pub struct TokenFacts {
    asked: AskedFacts,
    /// p.
    pub probability: Vec<f64>,
    /// w, where asked for; empty where no token has any.
    pub weight: Vec<f64>,
    /// ‖g‖²; empty where no token has any.
    pub energy: Vec<f64>,
    /// Whether clipping cuts the token; up to the last that it does.
    clipped: Vec<bool>,
}

/// What is asked of the tokens of a response.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskedFacts {
    /// Anything at all.
    pub any: bool,
    /// The weights, too.
    pub weights: bool,
}

impl TokenFacts {
    /// Begins another response.
    pub fn begin(&mut self, asked: AskedFacts) {
        self.asked = asked;
        self.probability.clear();
        self.weight.clear();
        self.energy.clear();
        self.clipped.clear();
    }

    /// Adds the first `n` tokens of a block.
    pub fn extend(&mut self, block: &Block, n: usize, sign: BlockSign) {
        if !self.asked.any {
            return;
        }
        let framework = &block.framework;
        let before = self.probability.len();
        self.probability.extend_from_slice(&framework.probability[..n]);
        // Gradients are not computed there: the block holds old ones.
        let has_gradients = sign != BlockSign::Uniform(Sign::Zero);
        let add = |all: &mut Vec<f64>, found: &[f64]| match has_gradients {
            true => {
                all.resize(before, 0.0);
                all.extend_from_slice(&found[..n]);
            }
            false if all.is_empty() => {}
            false => all.resize(before + n, 0.0),
        };
        add(&mut self.energy, &framework.norm_sq);
        if self.asked.weights {
            add(&mut self.weight, &framework.weight);
        }
        let found = &framework.flags[..n];
        if has_gradients && found.iter().fold(0, |all, facts| all | facts) & flags::CLIPPED != 0 {
            self.clipped.resize(before, false);
            self.clipped.extend(found.iter().map(|facts| facts & flags::CLIPPED != 0));
        }
    }

    /// ‖g‖² of every token.
    pub fn all_energies(&mut self) -> &[f64] {
        self.energy.resize(self.probability.len(), 0.0);
        &self.energy
    }

    /// How many tokens of `range` clipping cuts.
    pub fn clipped(&self, range: Range<usize>) -> u64 {
        let found = self.clipped.get(range.start..range.end.min(self.clipped.len()));
        found.map_or(0, |found| found.iter().map(|clipped| u64::from(*clipped)).sum())
    }
}
