//! Tokens and energy by the engine difference, so that bounds can be tried on the page.

use std::ops::Range;

use crate::simd::{LANES, Work, widest};
use crate::stats::exact_sum::ExactSum;

/// Differences from −this to this; what lies beyond is in the end bins.
pub const LARGEST: f64 = 3.0;
/// Bins of one nat.
const PER_NAT: f64 = 50.0;
/// Bins.
pub const BINS: usize = 300;

/// The bin of a difference.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn bin(difference: f64) -> usize {
    ((difference.clamp(-LARGEST, LARGEST) + LARGEST) * PER_NAT).min(BINS as f64 - 1.0) as i32 as usize
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
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn add(&mut self, differences: &[f64], energies: &[f64], sums: &mut [TokensAndEnergy; BINS]) {
        let touched = widest(Counting { sums, differences, energies });
        let all = self.tokens[touched.clone()].iter_mut().zip(&mut self.energy[touched.clone()]);
        for ((tokens, energy), sum) in all.zip(&mut sums[touched]).filter(|(_, sum)| sum.0[0] > 0.0) {
            let TokensAndEnergy([count, sum]) = std::mem::take(sum);
            *tokens += count as u64;
            if sum != 0.0 {
                energy.add(sum);
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

/// Tokens and ‖g‖² of a bin of one response: one addition for both.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub struct TokensAndEnergy([f64; 2]);

struct Counting<'a> {
    sums: &'a mut [TokensAndEnergy; BINS],
    differences: &'a [f64],
    energies: &'a [f64],
}

impl Work for Counting<'_> {
    /// The bins that got something.
    type Output = Range<usize>;

    #[inline(always)]
    fn call(self) -> Range<usize> {
        let (mut first, mut last) = (BINS, 0);
        let mut add = |bin: usize, energy: f64| {
            (first, last) = (first.min(bin), last.max(bin));
            let [tokens, sum] = self.sums[bin].0;
            self.sums[bin].0 = [tokens + 1.0, sum + energy];
        };
        let n = self.differences.len().min(self.energies.len());
        let (chunks, rest) = self.differences[..n].as_chunks::<LANES>();
        let (energies, energies_rest) = self.energies[..n].as_chunks::<LANES>();
        for (chunk, energies) in chunks.iter().zip(energies) {
            // Bins are found side by side, and added to one by one.
            let bins = chunk.map(bin);
            bins.into_iter().zip(energies).for_each(|(bin, energy)| add(bin, *energy));
        }
        rest.iter().zip(energies_rest).for_each(|(d, energy)| add(bin(*d), *energy));
        first..(last + 1).max(first)
    }
}
