//! All quantities of a block of trained tokens, in passes that vectorise.

use super::columns::Columns;
use super::energy::{Sign, to_units};
use super::entropy_histogram::finest_bin;
use super::plane;
use super::tally::{Counts, Quantity, ResponseSums};
use crate::framework::batch::{BLOCK, BatchKernel, TokenBlock, TokenColumns, flags};
use crate::framework::entropy_change::EntropyDirection;

/// The sign of the advantages of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSign {
    /// All tokens have this sign.
    Uniform(Sign),
    /// Tokens of different signs.
    Mixed,
}

impl BlockSign {
    /// The sign of `advantages`, none of which is NaN; adds to the counts.
    #[inline(always)]
    pub fn of(advantages: &[f32], counts: &mut Counts) -> Self {
        let positive = advantages.iter().map(|a| u32::from(*a > 0.0)).sum::<u32>();
        let negative = advantages.iter().map(|a| u32::from(*a < 0.0)).sum::<u32>();
        let all = advantages.len() as u32;
        counts.positive += u64::from(positive);
        counts.negative += u64::from(negative);
        counts.zero += u64::from(all - positive - negative);
        match (positive, negative) {
            (p, _) if p == all => Self::Uniform(Sign::Positive),
            (_, n) if n == all => Self::Uniform(Sign::Negative),
            (0, 0) => Self::Uniform(Sign::Zero),
            _ => Self::Mixed,
        }
    }
}

/// The quantities of up to [`BLOCK`] tokens; reused from block to block.
pub struct Block {
    /// The framework's quantities.
    pub framework: TokenBlock,
    /// ‖g‖.
    pub norm: [f64; BLOCK],
    /// Energy in units.
    pub energy: [u64; BLOCK],
    /// Bin of the entropy histogram.
    pub bin: [u32; BLOCK],
    /// Cell of the plane.
    pub cell: [u32; BLOCK],
    /// Hash of response and position.
    pub hash: [u32; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            framework: TokenBlock::default(),
            norm: [0.0; BLOCK],
            energy: [0; BLOCK],
            bin: [0; BLOCK],
            cell: [0; BLOCK],
            hash: [0; BLOCK],
        }
    }
}

/// Sum of `term(0)` to `term(n − 1)` in eight lanes: the order is the same on every machine.
#[inline(always)]
fn lane_sum(n: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let whole = n / 8 * 8;
    let mut at = 0;
    while at < whole {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += term(at + lane);
        }
        at += 8;
    }
    for (lane, sum) in lanes.iter_mut().enumerate().take(n - whole) {
        *sum += term(whole + lane);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// A well-mixed 32-bit hash of token `position` of a response.
#[inline(always)]
fn token_hash(response: u32, position: u32) -> u32 {
    let mut x = response.wrapping_add(position.wrapping_mul(0x9e37_79b9));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

#[inline(always)]
fn count(n: usize, is: impl Fn(usize) -> bool) -> u64 {
    (0..n).map(|i| u32::from(is(i))).sum::<u32>().into()
}

impl Block {
    /// What every token needs: bins, cells, hashes, probabilities, feasibility.
    #[inline(always)]
    pub fn locate(&mut self, columns: &Columns<'_>, level: u32, response_hash: u32, first: usize) {
        let n = columns.len();
        let (logprob, entropy) = (&columns.logprob[..n], &columns.entropy[..n]);
        for (bin, h) in self.bin[..n].iter_mut().zip(entropy) {
            *bin = finest_bin(*h) >> level;
        }
        for (cell, (l, h)) in self.cell[..n].iter_mut().zip(logprob.iter().zip(entropy)) {
            *cell = plane::cell(*l, *h);
        }
        for (i, hash) in self.hash[..n].iter_mut().enumerate() {
            *hash = token_hash(response_hash, (first + i) as u32);
        }
    }

    /// Tokens without advantage: there is no gradient.
    #[inline(always)]
    pub fn compute_zero(
        &mut self,
        kernel: &BatchKernel,
        columns: &Columns<'_>,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) {
        kernel.probabilities(&framework_columns(columns), &mut self.framework);
        self.add_states(columns, counts, sums);
    }

    /// Tokens with an advantage.
    #[inline(always)]
    pub fn compute(
        &mut self,
        kernel: &BatchKernel,
        columns: &Columns<'_>,
        sign: BlockSign,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) {
        let framework = framework_columns(columns);
        kernel.gradients(&framework, &mut self.framework);
        kernel.entropy_changes(&framework, &mut self.framework);
        if !columns.clipped.is_empty() {
            self.cut_clipped(columns.clipped);
        }
        self.add_states(columns, counts, sums);
        self.add_gradients(columns, sign, counts, sums);
    }

    /// The trainer's own word on clipping.
    fn cut_clipped(&mut self, clipped: &[u8]) {
        let block = &mut self.framework;
        for (i, _) in clipped.iter().enumerate().filter(|(_, flag)| **flag == 1) {
            block.flags[i] |= flags::CLIPPED;
            block.weight[i] = 0.0;
            block.norm_sq_low[i] = 0.0;
            block.norm_sq[i] = 0.0;
            block.norm_sq_high[i] = 0.0;
            block.change_low[i] = 0.0;
            block.change_high[i] = 0.0;
            block.direction[i] = EntropyDirection::Unchanged as u8;
        }
    }

    #[inline(always)]
    fn add_states(&mut self, columns: &Columns<'_>, counts: &mut Counts, sums: &mut ResponseSums) {
        let n = columns.len();
        let (logprob, entropy) = (&columns.logprob[..n], &columns.entropy[..n]);
        let p = &self.framework.probability[..n];
        counts.infeasible += count(n, |i| self.framework.flags[..n][i] & flags::INFEASIBLE != 0);
        sums.add(Quantity::Entropy, lane_sum(n, |i| f64::from(entropy[i])));
        sums.add(Quantity::Logprob, lane_sum(n, |i| f64::from(logprob[i])));
        sums.add(Quantity::Probability, lane_sum(n, |i| p[i]));
        let own = |i: usize| p[i] * (f64::from(logprob[i]) + f64::from(entropy[i]));
        sums.add(Quantity::Own, lane_sum(n, own));
        if !columns.entropy_after.is_empty() {
            let after = &columns.entropy_after[..n];
            let known = count(n, |i| after[i].is_finite());
            let change = |i: usize| {
                if after[i].is_finite() { f64::from(after[i]) - f64::from(entropy[i]) } else { 0.0 }
            };
            counts.measured_changes += known;
            sums.add(Quantity::MeasuredChange, lane_sum(n, change));
        }
    }

    #[inline(always)]
    fn add_gradients(
        &mut self,
        columns: &Columns<'_>,
        sign: BlockSign,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) {
        let n = columns.len();
        let block = &self.framework;
        for i in 0..BLOCK {
            self.norm[i] = block.norm_sq[i].sqrt();
            self.energy[i] = to_units(block.norm_sq[i]);
        }
        let (energy, norm, weight) = (&block.norm_sq[..n], &self.norm[..n], &block.weight[..n]);
        let advantage = &columns.advantage[..n];
        let (logprob, entropy, p) = (&columns.logprob[..n], &columns.entropy[..n], &block.probability[..n]);
        let own = |i: usize| p[i] * (f64::from(logprob[i]) + f64::from(entropy[i])) * f64::from(advantage[i]);
        sums.add(Quantity::Advantage, lane_sum(n, |i| f64::from(advantage[i])));
        sums.add(Quantity::OwnAdvantage, lane_sum(n, own));
        sums.add(Quantity::EnergyLow, lane_sum(n, |i| block.norm_sq_low[..n][i]));
        sums.add(Quantity::EnergyHigh, lane_sum(n, |i| block.norm_sq_high[..n][i]));
        sums.add(Quantity::ChangeLow, lane_sum(n, |i| block.change_low[..n][i]));
        sums.add(Quantity::ChangeHigh, lane_sum(n, |i| block.change_high[..n][i]));
        let all = [lane_sum(n, |i| energy[i]), lane_sum(n, |i| norm[i])];
        let positive = match sign {
            BlockSign::Uniform(Sign::Positive) => all,
            BlockSign::Uniform(_) => [0.0; 2],
            BlockSign::Mixed => {
                let only = |value: f64, i: usize| if advantage[i] > 0.0 { value } else { 0.0 };
                [lane_sum(n, |i| only(energy[i], i)), lane_sum(n, |i| only(norm[i], i))]
            }
        };
        let negative = match sign {
            BlockSign::Uniform(Sign::Negative) => all,
            BlockSign::Uniform(_) => [0.0; 2],
            BlockSign::Mixed => {
                let only = |value: f64, i: usize| if advantage[i] < 0.0 { value } else { 0.0 };
                [lane_sum(n, |i| only(energy[i], i)), lane_sum(n, |i| only(norm[i], i))]
            }
        };
        sums.add(Quantity::PositiveEnergy, positive[0]);
        sums.add(Quantity::PositiveNorm, positive[1]);
        sums.add(Quantity::NegativeEnergy, negative[0]);
        sums.add(Quantity::NegativeNorm, negative[1]);
        counts.weighted += count(n, |i| weight[i] != 0.0);
        let (facts, direction) = (&block.flags[..n], &block.direction[..n]);
        counts.clipped += count(n, |i| facts[i] & flags::CLIPPED != 0);
        counts.measured_norms += count(n, |i| (facts[i] & flags::MEASURED != 0) & (weight[i] != 0.0));
        let exact = |i: usize| facts[i] & (flags::MEASURED | flags::EXACT) == flags::EXACT;
        counts.exact_norms += count(n, |i| exact(i) & (weight[i] != 0.0));
        counts.up += count(n, |i| direction[i] == EntropyDirection::Up as u8);
        counts.down += count(n, |i| direction[i] == EntropyDirection::Down as u8);
        counts.ambiguous += count(n, |i| direction[i] == EntropyDirection::Ambiguous as u8);
        let undecided_by_half = |i: usize| {
            (f64::from(logprob[i]) > -f64::from(entropy[i]))
                & (f64::from(logprob[i]) < -std::f64::consts::LN_2)
        };
        let decided = |i: usize| {
            (direction[i] == EntropyDirection::Up as u8) | (direction[i] == EntropyDirection::Down as u8)
        };
        counts.as_mode += count(n, |i| decided(i) & undecided_by_half(i));
        if !columns.sum_pi_sq_log_pi.is_empty() {
            let exact = |i: usize| (block.change_low[i] == block.change_high[i]) & (weight[i] != 0.0);
            counts.exact_changes += count(n, exact);
        }
    }
}

fn framework_columns<'a>(columns: &Columns<'a>) -> TokenColumns<'a> {
    fn logged<T>(column: &[T]) -> Option<&[T]> {
        (!column.is_empty()).then_some(column)
    }
    TokenColumns {
        logprob: columns.logprob,
        entropy: columns.entropy,
        advantage: columns.advantage,
        logprob_new: logged(columns.logprob_new),
        grad_norm: logged(columns.grad_norm),
        sum_pi_sq: logged(columns.sum_pi_sq),
        sum_pi_sq_log_pi: logged(columns.sum_pi_sq_log_pi),
    }
}
