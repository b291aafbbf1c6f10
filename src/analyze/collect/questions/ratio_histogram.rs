//! Tokens and energy by the engine difference, so that bounds can be tried on the page.

use crate::stats::exact_sum::ExactSum;

/// Differences from −this to this; what lies beyond is in the end bins.
pub const LARGEST: f64 = 3.0;
/// Bins of one nat.
const PER_NAT: f64 = 50.0;
/// Bins.
pub const BINS: usize = 300;

/// The bin of a difference.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn bin(difference: f64) -> usize {
    ((difference.clamp(-LARGEST, LARGEST) + LARGEST) * PER_NAT).min(BINS as f64 - 1.0) as usize
}

/// Tokens and energy by bin. Energies of one response are summed in the order of its tokens, those of
/// many exactly.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RatioHistogram {
    /// Tokens.
    pub tokens: Vec<u64>,
    /// ‖g‖².
    pub energy: Vec<ExactSum>,
}

impl Default for RatioHistogram {
    fn default() -> Self {
        Self { tokens: vec![0; BINS], energy: vec![ExactSum::new(); BINS] }
    }
}

impl RatioHistogram {
    /// Adds the tokens of a response.
    /// `sums` are of its bins, 0 before and after.
    pub fn add(&mut self, differences: &[f64], energies: &[f64], sums: &mut [f64; BINS]) {
        let (mut first, mut last) = (BINS, 0);
        for (difference, energy) in differences.iter().zip(energies) {
            let bin = bin(*difference);
            (first, last) = (first.min(bin), last.max(bin));
            self.tokens[bin] += 1;
            sums[bin] += energy;
        }
        let touched = first..BINS.min(last + 1).max(first);
        for (energy, sum) in self.energy[touched.clone()].iter_mut().zip(&mut sums[touched]) {
            if *sum != 0.0 {
                energy.add(std::mem::take(sum));
            }
        }
    }

    /// Whether it has all bins.
    pub fn fits(&self) -> bool {
        self.tokens.len() == BINS && self.energy.len() == BINS
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, other: &Self) {
        self.tokens.iter_mut().zip(&other.tokens).for_each(|(a, b)| *a += b);
        self.energy.iter_mut().zip(&other.energy).for_each(|(a, b)| a.merge(b));
    }
}
