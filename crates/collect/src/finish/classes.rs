//! Tokens and energy of every class of the taxonomy.

use std::cmp::Ordering;

use super::quantiles::split_at;
use super::verdicts::BatchVerdict;
use crate::collect::energy::Sign;
use crate::collect::entropy_histogram::EntropyHistogram;
use crate::collect::run_sample::Sample;
use crate::collect::tally::{BatchTally, Quantity};
use stapo_framework::s2t::{CandidateRule, is_low_entropy};
use stapo_framework::taxonomy::TokenClass;

/// Tokens and energy of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassTally {
    /// Tokens.
    pub tokens: u64,
    /// Energy.
    pub energy: f64,
}

/// Tokens and energy of all classes, by their codes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassTable {
    /// By code.
    pub classes: [ClassTally; 9],
    /// Tokens in the bins that the split falls into: the most that counts can be off by.
    pub uncertain: u64,
}

impl ClassTable {
    /// Adds another batch.
    pub fn merge(&mut self, other: &Self) {
        for (a, b) in self.classes.iter_mut().zip(&other.classes) {
            a.tokens += b.tokens;
            a.energy += b.energy;
        }
        self.uncertain += other.uncertain;
    }

    /// The classes of a batch that is split at `cut`. Candidates are known one by one; rare
    /// tokens with A < 0 are given as (low entropy, high entropy).
    pub fn of(tally: &BatchTally, cut: f64, verdict: &BatchVerdict, rare_negative: [ClassTally; 2]) -> Self {
        let spurious = ClassTally { tokens: verdict.silenced, energy: verdict.silenced_energy.value() };
        let exploratory =
            ClassTally { tokens: verdict.exploratory(), energy: verdict.exploratory_energy.value() };
        let positive = Split::of(&tally.histogram, Sign::Positive, cut, tally.sum(Quantity::PositiveEnergy));
        let negative = Split::of(&tally.histogram, Sign::Negative, cut, tally.sum(Quantity::NegativeEnergy));
        let mut table = Self { uncertain: positive.uncertain + negative.uncertain, ..Self::default() };
        let mut set = |class: TokenClass, tally: ClassTally| table.classes[class as usize] = tally;
        set(TokenClass::PositiveLowPLowH, spurious);
        set(TokenClass::PositiveLowPHighH, exploratory);
        let [low, high] = positive.without([spurious, exploratory], tally.counts.positive);
        set(TokenClass::PositiveHighPLowH, low);
        set(TokenClass::PositiveHighPHighH, high);
        set(TokenClass::NegativeLowPLowH, rare_negative[0]);
        set(TokenClass::NegativeLowPHighH, rare_negative[1]);
        let [low, high] = negative.without(rare_negative, tally.counts.negative);
        set(TokenClass::NegativeHighPLowH, low);
        set(TokenClass::NegativeHighPHighH, high);
        set(TokenClass::ZeroAdvantage, ClassTally { tokens: tally.counts.zero, energy: 0.0 });
        table
    }
}

/// Tokens of one sign with low and with high entropy.
struct Split {
    low: ClassTally,
    energy: f64,
    uncertain: u64,
}

impl Split {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn of(histogram: &EntropyHistogram, sign: Sign, cut: f64, energy: f64) -> Self {
        let (mut low, mut all, mut uncertain) = (ClassTally::default(), 0.0, 0);
        let (cut_bin, share) = split_at(histogram.level(), cut);
        for (bin, tally) in histogram.occupied(sign) {
            all += tally.energy;
            match bin.cmp(&cut_bin) {
                Ordering::Less => {
                    low.tokens += tally.count;
                    low.energy += tally.energy;
                }
                Ordering::Equal => {
                    low.tokens += (tally.count as f64 * share).round() as u64;
                    low.energy += tally.energy * share;
                    uncertain += if share > 0.0 && share < 1.0 { tally.count } else { 0 };
                }
                Ordering::Greater => {}
            }
        }
        // The histogram's energies are rounded: only their proportion is taken.
        low.energy *= if all > 0.0 { energy / all } else { 0.0 };
        Self { low, energy, uncertain }
    }

    /// What is left without rare tokens of low and high entropy, of `tokens` in all.
    fn without(&self, rare: [ClassTally; 2], tokens: u64) -> [ClassTally; 2] {
        let low_tokens = self.low.tokens.saturating_sub(rare[0].tokens);
        let frequent = tokens.saturating_sub(rare[0].tokens + rare[1].tokens);
        let low_tokens = low_tokens.min(frequent);
        // The split is an estimate where the cut falls into a bin: what it gives cannot be more than is left.
        let rest = (self.energy - rare[0].energy - rare[1].energy).max(0.0);
        let low_energy = (self.low.energy - rare[0].energy).clamp(0.0, rest);
        [
            ClassTally { tokens: low_tokens, energy: low_energy },
            ClassTally { tokens: frequent - low_tokens, energy: rest - low_energy },
        ]
    }
}

/// Rare tokens with A < 0 of every batch: [low, high] entropy.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn rare_negatives(rare: &Sample, rule: &CandidateRule, splits: &[f64]) -> Vec<[ClassTally; 2]> {
    let mut tallies = vec![[ClassTally::default(); 2]; splits.len()];
    let weight = rare.weight();
    for token in rare.tokens.iter().filter(|t| t.advantage < 0.0 && rule.is_rare(t.logprob)) {
        let batch = token.batch as usize;
        let high = usize::from(!is_low_entropy(token.entropy, splits[batch]));
        tallies[batch][high].tokens += weight as u64;
        tallies[batch][high].energy += weight * token.energy();
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cut falls into the bin of the only frequent token, and the estimate gives low entropy more than is left.
    #[test]
    fn classes_carry_no_more_than_all_energy() {
        let tally = |tokens, energy| ClassTally { tokens, energy };
        let split = Split { low: tally(2, 0.9), energy: 1.0, uncertain: 2 };
        for rare in [
            [tally(0, 0.0), tally(1, 0.634)],
            [tally(1, 0.2), tally(1, 0.634)],
            [tally(1, 0.7), tally(1, 0.4)],
        ] {
            let [low, high] = split.without(rare, 4);
            let left = (1.0 - rare[0].energy - rare[1].energy).max(0.0);
            assert!((low.energy + high.energy - left).abs() < 1e-15, "{low:?} {high:?}");
            assert!(low.energy >= 0.0 && high.energy >= 0.0);
        }
    }
}
