//! How few tokens carry the energy of a step: sums, the largest tokens, and a ladder of sizes.

use super::ladder::Ladder;
use crate::collect::pieces::Pieces;
use stapo_base::stats::wide_sum::WideSum;

/// Largest energies that are kept one by one.
pub const LARGEST: usize = 10;

/// What the energies of a step's tokens are made of. Any scale of norms works.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct EnergyTally {
    /// Trained tokens, those without a gradient included.
    pub trained: u64,
    /// Tokens with a gradient.
    pub tokens: u64,
    /// Σ ‖g‖².
    pub energy: WideSum,
    /// Σ ‖g‖⁴.
    pub squares: WideSum,
    /// The largest ‖g‖², descending.
    pub largest: Vec<f64>,
    /// Tokens by the size of ‖g‖².
    pub ladder: Ladder,
    /// All ‖g‖², while there is room for them.
    pub kept: Pieces<f64>,
}

impl EnergyTally {
    /// Adds the energies of a block; keeps them one by one where there is room.
    pub fn add_block(&mut self, energies: &[f64], largest: f64, keeps: bool) {
        for energy in energies.iter().filter(|e| **e > 0.0) {
            self.ladder.add(*energy);
            self.tokens += 1;
        }
        if keeps {
            energies.iter().filter(|e| **e > 0.0).for_each(|energy| self.kept.push(*energy));
        }
        if largest > self.entry() {
            energies.iter().for_each(|energy| self.enter(*energy));
        }
    }

    /// Adds the sums of a response's tokens.
    pub fn add_response(&mut self, trained: usize, energy: f64, squares: f64) {
        self.trained += trained as u64;
        self.energy.add(energy);
        self.squares.add(squares);
    }

    fn entry(&self) -> f64 {
        self.largest.get(LARGEST - 1).copied().unwrap_or(0.0)
    }

    fn enter(&mut self, energy: f64) {
        if energy > self.entry() {
            let at = self.largest.partition_point(|known| *known >= energy);
            self.largest.insert(at, energy);
            self.largest.truncate(LARGEST);
        }
    }

    /// Puts what may come in any order into one; what not all of was kept goes.
    pub fn settle(&mut self, kept_all: bool) {
        if kept_all {
            self.kept.sort_by(f64::total_cmp);
        } else {
            self.kept = Pieces::default();
        }
    }

    /// Adds another part of the step.
    pub fn merge(&mut self, other: Self) {
        self.merge_sums(&other);
        self.kept.append(other.kept);
    }

    /// The same without what was kept one by one.
    pub fn merge_sums(&mut self, other: &Self) {
        self.trained += other.trained;
        self.tokens += other.tokens;
        self.energy.merge(&other.energy);
        self.squares.merge(&other.squares);
        other.largest.iter().for_each(|energy| self.enter(*energy));
        self.ladder.merge(&other.ladder);
    }
}
