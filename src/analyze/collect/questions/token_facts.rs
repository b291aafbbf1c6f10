//! What the framework found for the trained tokens of one response, side by side.

use crate::analyze::collect::block::{Block, BlockSign};
use crate::analyze::collect::energy::Sign;
use crate::framework::batch::flags;

/// Columns of a response's trained tokens; reused.
#[derive(Clone, Debug, Default)]
pub struct TokenFacts {
    /// p.
    pub probability: Vec<f64>,
    /// w.
    pub weight: Vec<f64>,
    /// ‖g‖².
    pub energy: Vec<f64>,
    /// Whether clipping cuts the token.
    pub clipped: Vec<bool>,
    /// Whether it cuts any.
    pub clips: bool,
}

impl TokenFacts {
    /// Forgets the last response.
    pub fn clear(&mut self) {
        self.probability.clear();
        self.weight.clear();
        self.energy.clear();
        self.clipped.clear();
        self.clips = false;
    }

    /// Adds the first `n` tokens of a block.
    pub fn extend(&mut self, block: &Block, n: usize, sign: BlockSign) {
        let framework = &block.framework;
        self.probability.extend_from_slice(&framework.probability[..n]);
        if sign == BlockSign::Uniform(Sign::Zero) {
            // Gradients are not computed there: the block holds old ones.
            let all = self.probability.len();
            self.weight.resize(all, 0.0);
            self.energy.resize(all, 0.0);
            self.clipped.resize(all, false);
        } else {
            self.weight.extend_from_slice(&framework.weight[..n]);
            self.energy.extend_from_slice(&framework.norm_sq[..n]);
            let found = &framework.flags[..n];
            self.clips |= found.iter().fold(0, |all, facts| all | facts) & flags::CLIPPED != 0;
            self.clipped.extend(found.iter().map(|facts| facts & flags::CLIPPED != 0));
        }
    }
}
