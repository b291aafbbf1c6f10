//! All quantities of a block of trained tokens, in passes that vectorise.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

mod lanes;
mod sums;

use super::columns::Columns;
use super::energy::{Band, Sign};
use super::entropy_histogram::finest_bin;
use super::plane;
use super::tally::{Counts, ResponseSums};
use stapo_base::simd::{Work, widest};
use stapo_framework::batch::{BLOCK, BatchKernel, TokenBlock, TokenSlices, flags};
use stapo_framework::entropy_change::EntropyDirection;

/// The sign of the advantages of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSign {
    /// All tokens have this sign.
    Uniform(Sign),
    /// Tokens of different signs.
    Mixed,
}

impl BlockSign {
    /// The sign of the advantages of a block, none of which is NaN; adds to the counts.
    #[inline(always)]
    fn of(block: &TokenBlock, counts: &mut Counts) -> Self {
        let advantages = block.advantage();
        let positive = advantages.iter().map(|a| u32::from(*a > 0.0)).sum::<u32>();
        let negative = advantages.iter().map(|a| u32::from(*a < 0.0)).sum::<u32>();
        let all = block.len() as u32;
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
    /// Energy in units of `band`.
    pub energy: [u64; BLOCK],
    /// The band of `largest_energy`; old where no token has an advantage.
    pub band: Option<Band>,
    /// Bin of the entropy histogram.
    pub bin: [u32; BLOCK],
    /// Cell of the plane.
    pub cell: [u32; BLOCK],
    /// Hash of response and position; old where no token has an advantage and no text is logged.
    pub hash: [u32; BLOCK],
    /// The largest ‖g‖².
    pub largest_energy: f64,
    /// Σ ‖g‖² and Σ ‖g‖⁴; old where no token has an advantage, as is the next.
    pub energies: [f64; 2],
    /// The largest |A|.
    pub largest_advantage: f32,
    /// The largest token id; as unsigned, so that a missing one is larger than any.
    pub largest_id: u32,
    /// p(ln p + H).
    own: [f64; BLOCK],
    /// Terms of a sum.
    terms: [f64; BLOCK],
    /// H after the update, filled up with 0.
    after: [f32; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            framework: TokenBlock::default(),
            norm: [0.0; BLOCK],
            energy: [0; BLOCK],
            band: None,
            bin: [0; BLOCK],
            cell: [0; BLOCK],
            hash: [0; BLOCK],
            largest_energy: 0.0,
            energies: [0.0; 2],
            largest_advantage: 0.0,
            largest_id: 0,
            own: [0.0; BLOCK],
            terms: [0.0; BLOCK],
            after: [0.0; BLOCK],
        }
    }
}

/// A well-mixed 32-bit hash of token `position` of a response.
#[inline(always)]
pub fn token_hash(response: u32, position: u32) -> u32 {
    let mut x = response.wrapping_add(position.wrapping_mul(0x9e37_79b9));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// A block of a response's trained tokens.
pub struct BlockInput<'a> {
    /// Its columns: at most [`BLOCK`] tokens, all with log-probability, entropy and advantage.
    pub columns: &'a Columns<'a>,
    /// Level of the entropy histogram.
    pub level: u32,
    /// Hash of the response.
    pub response_hash: u32,
    /// Index of the first token among the trained ones of the response.
    pub first: usize,
    /// Whether hashes are needed without an advantage, too.
    pub hashes_all: bool,
}

struct Computation<'a, 'b> {
    block: &'a mut Block,
    kernel: &'a BatchKernel,
    input: &'a BlockInput<'b>,
    counts: &'a mut Counts,
    sums: &'a mut ResponseSums,
}

impl Work for Computation<'_, '_> {
    type Output = BlockSign;

    #[inline(always)]
    fn call(self) -> BlockSign {
        self.block.compute_inline(self.kernel, self.input, self.counts, self.sums)
    }
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
        widest(Computation { block: self, kernel, input, counts, sums })
    }

    #[inline(always)]
    fn compute_inline(
        &mut self,
        kernel: &BatchKernel,
        input: &BlockInput<'_>,
        counts: &mut Counts,
        sums: &mut ResponseSums,
    ) -> BlockSign {
        let columns = input.columns;
        let framework = framework_columns(columns);
        self.framework.load(&framework);
        self.locate(input.level);
        self.largest_id = largest_id(columns.token_id);
        let sign = BlockSign::of(&self.framework, counts);
        if sign != BlockSign::Uniform(Sign::Zero) || input.hashes_all {
            for (i, hash) in self.hash[..self.framework.padded_len()].iter_mut().enumerate() {
                *hash = token_hash(input.response_hash, (input.first + i) as u32);
            }
        }
        if sign == BlockSign::Uniform(Sign::Zero) {
            kernel.probabilities_of_loaded(&mut self.framework);
            self.add_states(columns, counts, sums);
        } else {
            kernel.gradients_of_loaded(&framework, &mut self.framework);
            kernel.entropy_changes(&framework, &mut self.framework);
            if !columns.clipped.is_empty() {
                self.cut_clipped(columns.clipped);
            }
            if sign == BlockSign::Mixed {
                self.cut_zero(columns.advantage);
            }
            self.add_states(columns, counts, sums);
            self.add_gradients(columns, sign, counts, sums);
        }
        sign
    }

    /// Bins and cells.
    #[inline(always)]
    fn locate(&mut self, level: u32) {
        let n = self.framework.padded_len();
        let (logprob, entropy) = (&self.framework.logprob()[..n], &self.framework.entropy()[..n]);
        for (bin, h) in self.bin[..n].iter_mut().zip(entropy) {
            *bin = finest_bin(*h) >> level;
        }
        for (cell, (l, h)) in self.cell[..n].iter_mut().zip(logprob.iter().zip(entropy)) {
            *cell = plane::cell(*l, *h);
        }
    }

    /// The trainer's own word on clipping.
    fn cut_clipped(&mut self, clipped: &[u8]) {
        for (i, _) in clipped.iter().enumerate().filter(|(_, flag)| **flag == 1) {
            self.framework.flags[i] |= flags::CLIPPED;
            self.forget_gradient(i);
        }
    }

    /// A token without advantage has no gradient, whatever norm was logged for it.
    fn cut_zero(&mut self, advantages: &[f32]) {
        for (i, _) in advantages.iter().enumerate().filter(|(_, advantage)| **advantage == 0.0) {
            self.forget_gradient(i);
        }
    }

    fn forget_gradient(&mut self, i: usize) {
        let block = &mut self.framework;
        block.weight[i] = 0.0;
        block.norm_sq_low[i] = 0.0;
        block.norm_sq[i] = 0.0;
        block.norm_sq_high[i] = 0.0;
        block.change_low[i] = 0.0;
        block.change_high[i] = 0.0;
        block.direction[i] = EntropyDirection::Unchanged as u8;
    }
}

/// The largest as unsigned numbers; 0 without any.
#[inline(always)]
fn largest_id(ids: &[i32]) -> u32 {
    const AT_ONCE: usize = 16;
    // The last ones are looked at again with those before them: one by one they would take longer than all others.
    let Some(last) = ids.last_chunk::<AT_ONCE>() else {
        return ids.iter().fold(0, |largest, id| largest.max(id.cast_unsigned()));
    };
    let mut largest = [0; AT_ONCE];
    for chunk in ids.as_chunks::<AT_ONCE>().0.iter().chain([last]) {
        for i in 0..AT_ONCE {
            largest[i] = chunk[i].cast_unsigned().max(largest[i]);
        }
    }
    largest.into_iter().fold(0, u32::max)
}

fn framework_columns<'a>(columns: &Columns<'a>) -> TokenSlices<'a> {
    fn logged<T>(column: &[T]) -> Option<&[T]> {
        (!column.is_empty()).then_some(column)
    }
    TokenSlices {
        logprob: columns.logprob,
        entropy: columns.entropy,
        advantage: columns.advantage,
        logprob_new: logged(columns.logprob_new),
        grad_norm: logged(columns.grad_norm),
        sum_pi_sq: logged(columns.sum_pi_sq),
        sum_pi_sq_log_pi: logged(columns.sum_pi_sq_log_pi),
    }
}

#[cfg(test)]
mod tests {
    use super::largest_id;

    #[test]
    fn the_largest_id_is_found_anywhere() {
        assert_eq!(largest_id(&[]), 0);
        for length in [1, 15, 16, 17, 40] {
            for at in 0..length {
                let mut ids = vec![3; length];
                ids[at] = 7;
                assert_eq!(largest_id(&ids), 7);
                ids[at] = -1;
                assert_eq!(largest_id(&ids), u32::MAX);
            }
        }
    }
}
