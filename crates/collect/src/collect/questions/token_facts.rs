//! What the framework found for the trained tokens of one response, side by side.

use std::ops::Range;

use crate::collect::block::{Block, BlockSign};
use crate::collect::energy::Sign;
use stapo_framework::batch::flags;

/// Columns of a response's trained tokens; reused.
#[derive(Clone, Debug, Default)]
pub struct TokenFacts {
    asked: bool,
    /// p.
    pub probability: Vec<f64>,
    /// ‖g‖²; empty where no token has any.
    pub energy: Vec<f64>,
    /// Whether clipping cuts the token; up to the last that it does.
    clipped: Vec<bool>,
}

impl TokenFacts {
    /// Begins another response; `asked` is whether anything is asked of its tokens.
    pub fn begin(&mut self, asked: bool) {
        self.asked = asked;
        self.probability.clear();
        self.energy.clear();
        self.clipped.clear();
    }

    /// Adds the first `n` tokens of a block.
    pub fn extend(&mut self, block: &Block, n: usize, sign: BlockSign) {
        if !self.asked {
            return;
        }
        let framework = &block.framework;
        let before = self.probability.len();
        self.probability.extend_from_slice(&framework.probability[..n]);
        // Gradients are not computed there: the block holds old ones.
        let has_gradients = sign != BlockSign::Uniform(Sign::Zero);
        if has_gradients {
            self.energy.resize(before, 0.0);
            self.energy.extend_from_slice(&framework.norm_sq[..n]);
        } else if !self.energy.is_empty() {
            self.energy.resize(before + n, 0.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_gradients_are_filled_up() {
        let mut block = Block::default();
        // What a block holds of an earlier one must not be taken for its own.
        block.framework.norm_sq.fill(2.0);
        block.framework.flags.fill(flags::CLIPPED);
        let (zero, some) = (BlockSign::Uniform(Sign::Zero), BlockSign::Mixed);
        let facts = |blocks: &[(usize, BlockSign)]| {
            let mut facts = TokenFacts::default();
            facts.begin(true);
            blocks.iter().for_each(|(n, sign)| facts.extend(&block, *n, *sign));
            facts
        };
        let mut found = facts(&[(2, zero), (3, some), (1, zero)]);
        assert_eq!(found.energy, [0.0, 0.0, 2.0, 2.0, 2.0, 0.0]);
        assert_eq!([found.clipped(0..2), found.clipped(1..4), found.clipped(4..6)], [0, 2, 1]);
        assert_eq!((found.probability.len(), found.all_energies().len()), (6, 6));
        let mut none = facts(&[(2, zero), (1, zero)]);
        assert!(none.energy.is_empty());
        assert_eq!((none.clipped(0..3), none.all_energies()), (0, &[0.0; 3][..]));
    }
}
