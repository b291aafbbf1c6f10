//! Tokens of every step by entropy, so that the classes of several runs can be cut alike.

use super::steps::step_ranges;
use crate::collect::Collected;
use crate::collect::energy::Sign;
use crate::collect::entropy_histogram::{FINEST_BINS, finest_bin, first_bits};
use crate::plan::Plan;
use stapo_result::clusters::{ClassSums, StepEntropies};

/// Bins an octave are 8, or fewer in runs of very many batches.
const LEVEL: u32 = 4;

/// Tokens of every step by entropy.
pub struct EntropiesByStep {
    /// The steps, ascending.
    pub steps: Vec<StepEntropies>,
    level: u32,
}

impl EntropiesByStep {
    /// All tokens; those with A > 0 and p < τ_p are added one by one.
    pub fn of(collected: &Collected, plan: &Plan) -> Self {
        let fine = collected.batches.first().map_or(0, |(_, tally)| tally.histogram.level());
        let level = fine.max(LEVEL);
        let ranges = step_ranges(&collected.batches);
        let mut number_of_batch = vec![0; collected.batches.len()];
        let mut steps = Vec::with_capacity(ranges.len());
        for (number, range) in ranges.into_iter().enumerate() {
            let batches = &collected.batches[range.clone()];
            let mut bins = vec![[ClassSums::default(); 2]; FINEST_BINS >> level];
            for (_, tally) in batches {
                for (at, sign) in [Sign::Positive, Sign::Negative].into_iter().enumerate() {
                    for (bin, counted) in tally.histogram.occupied(sign) {
                        let sums = &mut bins[bin >> (level - fine)][at];
                        sums.tokens += counted.count as f64;
                        sums.energy += counted.energy;
                    }
                }
            }
            number_of_batch[range].fill(number);
            let zero = batches.iter().map(|(_, tally)| tally.counts.zero).sum::<u64>() as f64;
            steps.push(StepEntropies { step: batches[0].0.step, bins, zero });
        }
        let mut all = Self { steps, level };
        let weight = collected.rare.weight();
        let rare = collected.rare.tokens.iter();
        for token in rare.filter(|t| t.advantage < 0.0 && plan.rule.is_rare(t.logprob)) {
            let number = number_of_batch[token.batch as usize];
            all.add_rare(number, 1, token.entropy, weight, weight * token.energy());
        }
        all
    }

    /// Where the bins begin.
    pub fn edges(&self) -> Vec<f64> {
        let bins = FINEST_BINS >> self.level;
        (0..bins).map(|bin| f64::from(f32::from_bits(first_bits(bin, self.level)))).collect()
    }

    /// Notes a candidate.
    pub fn add_candidate(&mut self, step: i64, entropy: f32, energy: f64) {
        if let Ok(number) = self.steps.binary_search_by_key(&step, |s| s.step) {
            self.add_rare(number, 0, entropy, 1.0, energy);
        }
    }

    fn add_rare(&mut self, number: usize, sign: usize, entropy: f32, tokens: f64, energy: f64) {
        let bin = (finest_bin(entropy) >> self.level) as usize;
        let sums = &mut self.steps[number].bins[bin][sign];
        sums.rare_tokens += tokens;
        sums.rare_energy += energy;
    }
}
