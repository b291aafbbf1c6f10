//! What the tokens of a block add to their response and batch.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use super::lanes::{Lanes, largest, largest_size, sum, sum_f32, terms};
use super::{Block, BlockSign};
use crate::collect::columns::Columns;
use crate::collect::energy::{Band, Sign, to_units};
use crate::collect::tally::{Counts, Quantity, ResponseSums};
use stapo_base::simd::LANES as WIDTH;
use stapo_base::simd::count_few as count;
use stapo_framework::batch::flags;
use stapo_framework::entropy_change::EntropyDirection;

impl Block {
    /// Adds what every token has: entropy, probability, feasibility.
    #[inline(always)]
    pub(super) fn add_states(&mut self, columns: &Columns<'_>, counts: &mut Counts, sums: &mut ResponseSums) {
        let block = &self.framework;
        let padded = block.padded_len();
        let facts = &block.flags[..padded];
        counts.infeasible += count(padded, |i| facts[i] & flags::INFEASIBLE != 0);
        let (logprob, entropy) = (&block.logprob()[..padded], &block.entropy()[..padded]);
        let (probability, own) = (&block.probability[..padded], &mut self.own[..padded]);
        for i in 0..padded {
            own[i] = probability[i] * (f64::from(logprob[i]) + f64::from(entropy[i]));
        }
        let all_h = sum_f32(entropy, &mut self.terms);
        sums.add(Quantity::Entropy, all_h);
        sums.add(Quantity::Logprob, sum_f32(logprob, &mut self.terms));
        sums.add(Quantity::Probability, sum(probability));
        sums.add(Quantity::Own, sum(own));
        if !columns.entropy_after.is_empty() {
            self.add_measured(columns.entropy_after, all_h, counts, sums);
        }
    }

    #[inline(always)]
    fn add_measured(&mut self, after: &[f32], before: f64, counts: &mut Counts, sums: &mut ResponseSums) {
        let (n, padded) = (after.len(), self.framework.padded_len());
        let filled_up = &mut self.after[..padded];
        filled_up[..n].copy_from_slice(after);
        filled_up[n..].fill(0.0);
        let known = count(padded, |i| filled_up[i].is_finite()) - (padded - n) as u64;
        counts.measured_changes += known;
        if known == n as u64 {
            sums.add(Quantity::MeasuredChange, sum_f32(filled_up, &mut self.terms) - before);
        } else {
            let pairs = after.iter().zip(self.framework.entropy()).filter(|(after, _)| after.is_finite());
            let change = pairs.map(|(after, before)| f64::from(*after) - f64::from(*before));
            sums.add(Quantity::MeasuredChange, change.sum());
        }
    }

    /// Adds what tokens with an advantage have: energy, norm, entropy change.
    #[inline(always)]
    pub(super) fn add_gradients(
        &mut self,
        columns: &Columns<'_>,
        sign: BlockSign,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) {
        let block = &self.framework;
        let padded = block.padded_len();
        self.largest_energy = largest(&block.norm_sq[..padded]);
        self.band = Band::of(self.largest_energy);
        let units = self.band.map_or(1.0, Band::units);
        for i in 0..padded {
            self.norm[i] = block.norm_sq[i].sqrt();
            self.energy[i] = to_units(block.norm_sq[i], units);
        }
        let all = [sum(&block.norm_sq[..padded]), sum(&self.norm[..padded])];
        let positive = match sign {
            BlockSign::Uniform(Sign::Positive) => all,
            BlockSign::Uniform(_) => [0.0; 2],
            BlockSign::Mixed => self.positive_sums(),
        };
        sums.add(Quantity::PositiveEnergy, positive[0]);
        sums.add(Quantity::PositiveNorm, positive[1]);
        sums.add(Quantity::NegativeEnergy, all[0] - positive[0]);
        sums.add(Quantity::NegativeNorm, all[1] - positive[1]);
        for i in 0..padded {
            self.terms[i] = block.norm_sq[i] * block.norm_sq[i];
        }
        self.energies = [all[0], sum(&self.terms[..padded])];
        sums.add(Quantity::SquaredEnergy, self.energies[1]);
        sums.add(Quantity::EnergyLow, sum(&block.norm_sq_low[..padded]));
        sums.add(Quantity::EnergyHigh, sum(&block.norm_sq_high[..padded]));
        sums.add(Quantity::ChangeLow, sum(&block.change_low[..padded]));
        sums.add(Quantity::ChangeHigh, sum(&block.change_high[..padded]));
        let (advantage, own) = (&block.advantage()[..padded], &self.own[..padded]);
        self.largest_advantage = largest_size(advantage);
        sums.add(Quantity::Advantage, sum_f32(advantage, &mut self.terms));
        let terms = &mut self.terms[..padded];
        for i in 0..padded {
            terms[i] = own[i] * f64::from(advantage[i]);
        }
        sums.add(Quantity::OwnAdvantage, sum(terms));
        self.count_sources(columns, sign, counts);
        self.count_directions(counts);
    }

    /// Energy and norm of the tokens with A > 0.
    fn positive_sums(&self) -> [f64; 2] {
        let advantage = self.framework.advantage().as_chunks::<WIDTH>().0;
        let padded = self.framework.padded_len();
        [&self.framework.norm_sq[..padded], &self.norm[..padded]].map(|column| {
            let mut positive = Lanes::default();
            for (values, a) in column.as_chunks::<WIDTH>().0.iter().zip(advantage) {
                positive.add(terms(|i| if a[i] > 0.0 { values[i] } else { 0.0 }));
            }
            positive.total()
        })
    }

    #[inline(always)]
    fn count_sources(&self, columns: &Columns<'_>, sign: BlockSign, counts: &mut Counts) {
        // Beyond the last token there is no weight.
        let n = self.framework.padded_len();
        let (facts, weight) = (&self.framework.flags[..n], &self.framework.weight[..n]);
        let advantage = self.framework.advantage();
        let weighted = count(n, |i| weight[i] != 0.0);
        counts.weighted += weighted;
        counts.weighted_positive += match sign {
            BlockSign::Uniform(Sign::Positive) => weighted,
            BlockSign::Uniform(_) => 0,
            BlockSign::Mixed => count(n, |i| (weight[i] != 0.0) & (advantage[i] > 0.0)),
        };
        if !(columns.logprob_new.is_empty() && columns.clipped.is_empty()) {
            counts.clipped += count(n, |i| facts[i] & flags::CLIPPED != 0);
        }
        if !(columns.grad_norm.is_empty() && columns.sum_pi_sq.is_empty()) {
            counts.measured_norms += count(n, |i| (facts[i] & flags::MEASURED != 0) & (weight[i] != 0.0));
            let exact = |i: usize| facts[i] & (flags::MEASURED | flags::EXACT) == flags::EXACT;
            counts.exact_norms += count(n, |i| exact(i) & (weight[i] != 0.0));
        }
        if !columns.sum_pi_sq_log_pi.is_empty() {
            let (low, high) = (&self.framework.change_low[..n], &self.framework.change_high[..n]);
            counts.exact_changes += count(n, |i| (low[i] == high[i]) & (weight[i] != 0.0));
        }
    }

    #[inline(always)]
    fn count_directions(&self, counts: &mut Counts) {
        const UP: u8 = EntropyDirection::Up as u8;
        const DOWN: u8 = EntropyDirection::Down as u8;
        const AMBIGUOUS: u8 = EntropyDirection::Ambiguous as u8;
        // Beyond the last token nothing changes.
        let n = self.framework.padded_len();
        let direction = &self.framework.direction[..n];
        let (logprob, entropy) = (&self.framework.logprob()[..n], &self.framework.entropy()[..n]);
        counts.up += count(n, |i| direction[i] == UP);
        counts.down += count(n, |i| direction[i] == DOWN);
        counts.ambiguous += count(n, |i| direction[i] == AMBIGUOUS);
        // Neither p ≤ e^{−H} nor p ≥ ½ decides these.
        let open = |i: usize| (logprob[i] > -entropy[i]) & (logprob[i] <= -std::f32::consts::LN_2);
        counts.as_mode += count(n, |i| open(i) & ((direction[i] == UP) | (direction[i] == DOWN)));
    }
}
