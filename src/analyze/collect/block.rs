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
    /// Hash of response and position; old where no token has an advantage and no text is logged.
    pub hash: [u32; BLOCK],
    after: [f32; BLOCK],
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
            after: [0.0; BLOCK],
        }
    }
}

/// Sums of several terms of every token in eight lanes each: fast, and the same order of additions
/// on every machine. `n` is a multiple of the lanes; terms of padding must be 0.
#[inline(always)]
fn lane_sums<const N: usize>(n: usize, terms: impl Fn(usize) -> [f64; N]) -> [f64; N] {
    const LANES: usize = 8;
    let mut sums = [[0.0; LANES]; N];
    for chunk in 0..n / LANES {
        for lane in 0..LANES {
            let terms = terms(chunk * LANES + lane);
            for (sum, term) in sums.iter_mut().zip(terms) {
                sum[lane] += term;
            }
        }
    }
    sums.map(|[a, b, c, d, e, f, g, h]| ((a + e) + (c + g)) + ((b + f) + (d + h)))
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

/// A block of a response's trained tokens.
pub struct BlockInput<'a> {
    /// Its columns: at most [`BLOCK`] tokens, all with log-probability, entropy and advantage.
    pub columns: Columns<'a>,
    /// Level of the entropy histogram.
    pub level: u32,
    /// Hash of the response.
    pub response_hash: u32,
    /// Index of the first token among the trained ones of the response.
    pub first: usize,
    /// Whether hashes are needed without an advantage, too.
    pub hashes_all: bool,
}

impl Block {
    /// Computes everything; adds to the counts of the batch and the sums of the response.
    pub fn compute(
        &mut self,
        kernel: &BatchKernel,
        input: &BlockInput<'_>,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) -> BlockSign {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions that the function was compiled for. They
            // only make it faster: results have the same bits (nothing is fused or reordered).
            #[allow(unsafe_code)]
            return unsafe { self.compute_with_avx2(kernel, input, counts, sums) };
        }
        self.compute_inline(kernel, input, counts, sums)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn compute_with_avx2(
        &mut self,
        kernel: &BatchKernel,
        input: &BlockInput<'_>,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) -> BlockSign {
        self.compute_inline(kernel, input, counts, sums)
    }

    #[inline(always)]
    fn compute_inline(
        &mut self,
        kernel: &BatchKernel,
        input: &BlockInput<'_>,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) -> BlockSign {
        let columns = &input.columns;
        let framework = framework_columns(columns);
        self.locate(input);
        let sign = BlockSign::of(columns.advantage, counts);
        if sign != BlockSign::Uniform(Sign::Zero) || input.hashes_all {
            for (i, hash) in self.hash[..columns.len()].iter_mut().enumerate() {
                *hash = token_hash(input.response_hash, (input.first + i) as u32);
            }
        }
        if sign == BlockSign::Uniform(Sign::Zero) {
            kernel.probabilities(&framework, &mut self.framework);
            self.add_states(columns, counts, sums);
        } else {
            kernel.gradients(&framework, &mut self.framework);
            kernel.entropy_changes(&framework, &mut self.framework);
            if !columns.clipped.is_empty() {
                self.cut_clipped(columns.clipped);
            }
            self.add_states(columns, counts, sums);
            self.add_gradients(columns, sign, counts, sums);
        }
        sign
    }

    /// Bins and cells.
    #[inline(always)]
    fn locate(&mut self, input: &BlockInput<'_>) {
        let n = input.columns.len();
        let (logprob, entropy) = (&input.columns.logprob[..n], &input.columns.entropy[..n]);
        for (bin, h) in self.bin[..n].iter_mut().zip(entropy) {
            *bin = finest_bin(*h) >> input.level;
        }
        for (cell, (l, h)) in self.cell[..n].iter_mut().zip(logprob.iter().zip(entropy)) {
            *cell = plane::cell(*l, *h);
        }
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
        let block = &self.framework;
        let (n, padded) = (columns.len(), block.padded_len());
        counts.infeasible += count(n, |i| block.flags[..n][i] & flags::INFEASIBLE != 0);
        let (logprob, entropy) = (&block.logprob()[..padded], &block.entropy()[..padded]);
        let p = &block.probability[..padded];
        let [h, l, all_p, own] = lane_sums(padded, |i| {
            let (h, l) = (f64::from(entropy[i]), f64::from(logprob[i]));
            [h, l, p[i], p[i] * (l + h)]
        });
        sums.add(Quantity::Entropy, h);
        sums.add(Quantity::Logprob, l);
        sums.add(Quantity::Probability, all_p);
        sums.add(Quantity::Own, own);
        if !columns.entropy_after.is_empty() {
            self.after[..n].copy_from_slice(columns.entropy_after);
            self.after[n..padded].fill(f32::NAN);
            let (entropy, after) = (&self.framework.entropy()[..padded], &self.after[..padded]);
            let [change, known] = lane_sums(padded, |i| {
                let known = after[i].is_finite();
                let change = f64::from(after[i]) - f64::from(entropy[i]);
                [if known { change } else { 0.0 }, if known { 1.0 } else { 0.0 }]
            });
            counts.measured_changes += known as u64;
            sums.add(Quantity::MeasuredChange, change);
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
        let block = &self.framework;
        let (n, padded) = (columns.len(), block.padded_len());
        for i in 0..padded {
            self.norm[i] = block.norm_sq[i].sqrt();
            self.energy[i] = to_units(block.norm_sq[i]);
        }
        let (energy, norm) = (&block.norm_sq[..padded], &self.norm[..padded]);
        let (low, high) = (&block.norm_sq_low[..padded], &block.norm_sq_high[..padded]);
        let all @ [all_energy, all_norm, all_low, all_high] =
            lane_sums(padded, |i| [energy[i], norm[i], low[i], high[i]]);
        sums.add(Quantity::EnergyLow, all_low);
        sums.add(Quantity::EnergyHigh, all_high);
        let advantage = &block.advantage()[..padded];
        let [positive_energy, positive_norm, ..] = match sign {
            BlockSign::Uniform(Sign::Positive) => all,
            BlockSign::Uniform(_) => [0.0; 4],
            BlockSign::Mixed => lane_sums(padded, |i| {
                let only = |value: f64| if advantage[i] > 0.0 { value } else { 0.0 };
                [only(energy[i]), only(norm[i]), 0.0, 0.0]
            }),
        };
        sums.add(Quantity::PositiveEnergy, positive_energy);
        sums.add(Quantity::PositiveNorm, positive_norm);
        sums.add(Quantity::NegativeEnergy, all_energy - positive_energy);
        sums.add(Quantity::NegativeNorm, all_norm - positive_norm);
        let (logprob, entropy) = (&block.logprob()[..padded], &block.entropy()[..padded]);
        let (p, change_low, change_high) =
            (&block.probability[..padded], &block.change_low[..padded], &block.change_high[..padded]);
        let [change_low, change_high, all_advantage, own] = lane_sums(padded, |i| {
            let a = f64::from(advantage[i]);
            let own = p[i] * (f64::from(logprob[i]) + f64::from(entropy[i])) * a;
            [change_low[i], change_high[i], a, own]
        });
        sums.add(Quantity::ChangeLow, change_low);
        sums.add(Quantity::ChangeHigh, change_high);
        sums.add(Quantity::Advantage, all_advantage);
        sums.add(Quantity::OwnAdvantage, own);
        self.count_sources(columns, n, counts);
        self.count_directions(columns, n, counts);
    }

    #[inline(always)]
    fn count_sources(&self, columns: &Columns<'_>, n: usize, counts: &mut Counts) {
        let (facts, weight) = (&self.framework.flags[..n], &self.framework.weight[..n]);
        let weighted = count(n, |i| weight[i] != 0.0);
        counts.weighted += weighted;
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
    fn count_directions(&self, columns: &Columns<'_>, n: usize, counts: &mut Counts) {
        const UP: u8 = EntropyDirection::Up as u8;
        const DOWN: u8 = EntropyDirection::Down as u8;
        const AMBIGUOUS: u8 = EntropyDirection::Ambiguous as u8;
        let direction = &self.framework.direction[..n];
        let (logprob, entropy) = (&columns.logprob[..n], &columns.entropy[..n]);
        counts.up += count(n, |i| direction[i] == UP);
        counts.down += count(n, |i| direction[i] == DOWN);
        counts.ambiguous += count(n, |i| direction[i] == AMBIGUOUS);
        // Neither p ≤ e^{−H} nor p ≥ ½ decides these.
        let open = |i: usize| (logprob[i] > -entropy[i]) & (logprob[i] <= -std::f32::consts::LN_2);
        counts.as_mode += count(n, |i| open(i) & ((direction[i] == UP) | (direction[i] == DOWN)));
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
