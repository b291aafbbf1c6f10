//! The framework over slices: all quantities of a block of tokens in a few passes that vectorise.
//!
//! Inputs are copied into arrays of a fixed size and padded with NaN to a multiple of the vector
//! length, so the loops have no bounds checks, and everything stays in the first-level cache.

mod kernel;

pub use kernel::BatchKernel;

use super::norm::GradientSource;
use super::token::ClipRange;

/// Most tokens of one block.
pub const BLOCK: usize = 256;

/// Blocks are padded to a multiple of this, so that loops have no ragged end.
pub const LANES: usize = 16;

/// Facts about a token, as bits of one byte.
pub mod flags {
    /// Log-probability, entropy or advantage is missing or not finite: p, w and norm are 0.
    pub const MISSING: u8 = 1;
    /// p and H are not of one distribution, beyond the tolerance; H was clamped.
    pub const INFEASIBLE: u8 = 2;
    /// PPO clipping cuts the token: w is 0.
    pub const CLIPPED: u8 = 4;
    /// The norm is a logged one.
    pub const MEASURED: u8 = 8;
    /// The norm is exact, from a logged Σ π². Without this and `MEASURED` it is estimated.
    pub const EXACT: u8 = 16;
}

/// Where the norm of a token with these [`flags`] comes from.
#[must_use]
pub fn gradient_source(flags: u8) -> GradientSource {
    if flags & flags::MEASURED != 0 {
        GradientSource::Measured
    } else if flags & flags::EXACT != 0 {
        GradientSource::Exact
    } else {
        GradientSource::Estimated
    }
}

/// Columns of one chunk of tokens. Missing values are NaN; a column shorter than `logprob` is
/// missing beyond its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenSlices<'a> {
    /// ln p of the policy that `entropy` belongs to.
    pub logprob: &'a [f32],
    /// H in nats.
    pub entropy: &'a [f32],
    /// A.
    pub advantage: &'a [f32],
    /// ln π_θ(k) at the update; without it, or where it is missing, ρ = 1.
    pub logprob_new: Option<&'a [f32]>,
    /// Measured gradient norms with respect to the logits.
    pub grad_norm: Option<&'a [f32]>,
    /// Σ π².
    pub sum_pi_sq: Option<&'a [f64]>,
    /// Σ π² ln π.
    pub sum_pi_sq_log_pi: Option<&'a [f64]>,
}

impl<'a> TokenSlices<'a> {
    /// The tokens from `start` on, at most [`BLOCK`] of them.
    #[must_use]
    pub fn block_at(&self, start: usize) -> Self {
        fn cut<T>(column: &[T], start: usize) -> &[T] {
            let rest = column.get(start..).unwrap_or_default();
            rest.get(..BLOCK).unwrap_or(rest)
        }
        Self {
            logprob: cut(self.logprob, start),
            entropy: cut(self.entropy, start),
            advantage: cut(self.advantage, start),
            logprob_new: self.logprob_new.map(|column| cut(column, start)),
            grad_norm: self.grad_norm.map(|column| cut(column, start)),
            sum_pi_sq: self.sum_pi_sq.map(|column| cut(column, start)),
            sum_pi_sq_log_pi: self.sum_pi_sq_log_pi.map(|column| cut(column, start)),
        }
    }
}

/// What the framework needs to know about a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchSettings {
    /// V.
    pub vocab_size: u32,
    /// Clipping range, where the objective clips.
    pub clip: Option<ClipRange>,
    /// T > 0, if the gradient is wanted with respect to logits before division by it; else 1.
    pub temperature: f64,
}

/// The quantities of up to [`BLOCK`] tokens; reused from block to block.
#[derive(Debug, Clone)]
pub struct TokenBlock {
    len: usize,
    /// p; 0 where missing.
    pub probability: [f64; BLOCK],
    /// w = ρA; 0 where missing or clipped.
    pub weight: [f64; BLOCK],
    /// H', the entropy of the other tokens.
    pub conditional_entropy: [f32; BLOCK],
    /// Lower end of ‖g‖².
    pub norm_sq_low: [f64; BLOCK],
    /// ‖g‖²: measured, exact or estimated, see [`flags`].
    pub norm_sq: [f64; BLOCK],
    /// Upper end of ‖g‖².
    pub norm_sq_high: [f64; BLOCK],
    /// Bits of [`flags`].
    pub flags: [u8; BLOCK],
    /// Lower end of w·D, the first-order entropy change per unit of step size. This and the two
    /// below are only set by [`BatchKernel::entropy_changes`].
    pub change_low: [f64; BLOCK],
    /// Upper end of w·D; equal to the lower end where it is exact.
    pub change_high: [f64; BLOCK],
    /// Certified direction of the entropy change: a code of
    /// [`EntropyDirection`](super::entropy_change::EntropyDirection).
    pub direction: [u8; BLOCK],
    complement: [f64; BLOCK],
    ln_complement: [f32; BLOCK],
    /// C'_min, C'_max and ln x_max; the last two may exceed 1 and 0 by rounding.
    collision_min: [f32; BLOCK],
    collision_max: [f32; BLOCK],
    ln_heaviest: [f32; BLOCK],
    input: kernel::Present,
    scratch: kernel::Scratch,
}

impl Default for TokenBlock {
    fn default() -> Self {
        let zero = [0.0; BLOCK];
        Self {
            len: 0,
            probability: zero,
            weight: zero,
            conditional_entropy: [0.0; BLOCK],
            norm_sq_low: zero,
            norm_sq: zero,
            norm_sq_high: zero,
            flags: [0; BLOCK],
            change_low: zero,
            change_high: zero,
            direction: [0; BLOCK],
            complement: zero,
            ln_complement: [0.0; BLOCK],
            collision_min: [0.0; BLOCK],
            collision_max: [0.0; BLOCK],
            ln_heaviest: [0.0; BLOCK],
            input: kernel::Present::default(),
            scratch: kernel::Scratch::default(),
        }
    }
}

impl TokenBlock {
    /// Number of tokens; the arrays beyond it hold missing ones, and further on old ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// [`len`](Self::len) rounded up to what the passes go over.
    #[inline(always)]
    #[must_use]
    pub fn padded_len(&self) -> usize {
        self.len.next_multiple_of(LANES).min(BLOCK)
    }

    /// ln p of the tokens, 0 where missing, [`padded_len`](Self::padded_len) of them.
    #[inline(always)]
    #[must_use]
    pub fn logprob(&self) -> &[f32] {
        &self.input.logprob[..self.padded_len()]
    }

    /// H of the tokens, 0 where missing, [`padded_len`](Self::padded_len) of them.
    #[inline(always)]
    #[must_use]
    pub fn entropy(&self) -> &[f32] {
        &self.input.entropy[..self.padded_len()]
    }

    /// A of the tokens, 0 where missing, [`padded_len`](Self::padded_len) of them.
    #[inline(always)]
    #[must_use]
    pub fn advantage(&self) -> &[f32] {
        &self.input.advantage[..self.padded_len()]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::framework::collision::collision_bounds;
    use crate::framework::collision_table::{ENTROPY_ERROR, TABLE_SLACK};
    use crate::framework::entropy_change::{EntropyDirection, certified_direction, change_interval};
    use crate::framework::feasible::ConditionalState;
    use crate::framework::norm::SquaredNorm;
    use proptest::prelude::*;

    const V: u32 = 256;

    fn kernel(clip: Option<ClipRange>, temperature: f64) -> BatchKernel {
        BatchKernel::new(&BatchSettings { vocab_size: V, clip, temperature })
    }

    fn computed(kernel: &BatchKernel, columns: &TokenSlices<'_>) -> TokenBlock {
        let mut block = TokenBlock::default();
        kernel.gradients(columns, &mut block);
        kernel.entropy_changes(columns, &mut block);
        block
    }

    #[test]
    fn missing_and_hostile_values_leave_no_trace() {
        let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let mut rows = vec![[-1.0, 1.0, 1.0]];
        for column in 0..3 {
            for value in bad {
                let mut row = [-1.0, 1.0, 1.0];
                row[column] = value;
                rows.push(row);
            }
        }
        let column = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f32>>();
        let (logprob, entropy, advantage) = (column(0), column(1), column(2));
        let norms = vec![2.0; rows.len()];
        let squares = vec![2.0; rows.len()];
        let columns = TokenSlices {
            logprob: &logprob,
            entropy: &entropy,
            advantage: &advantage,
            grad_norm: Some(&norms),
            sum_pi_sq: Some(&squares),
            logprob_new: Some(&logprob),
            ..TokenSlices::default()
        };
        let block = computed(&kernel(None, 1.0), &columns);
        assert_eq!((block.len(), block.norm_sq[0]), (10, 4.0));
        for i in 1..LANES {
            assert_eq!(block.flags[i], flags::MISSING, "{i}");
            let values = [block.probability[i], block.weight[i], block.norm_sq_low[i], block.norm_sq[i]];
            assert_eq!(values, [0.0; 4], "{i}");
            assert_eq!((block.norm_sq_high[i], block.change_low[i], block.change_high[i]), (0.0, 0.0, 0.0));
            assert_eq!(block.direction[i], EntropyDirection::Unchanged as u8);
        }
    }

    #[test]
    fn the_best_source_wins() {
        let columns = TokenSlices {
            logprob: &[-1.0; 4],
            entropy: &[1.5; 4],
            advantage: &[2.0; 4],
            grad_norm: Some(&[0.5, f32::NAN, f32::NAN]),
            sum_pi_sq: Some(&[0.3, 0.3, f64::NAN]),
            ..TokenSlices::default()
        };
        let block = computed(&kernel(None, 2.0), &columns);
        assert_eq!(&block.flags[..4], &[flags::MEASURED | flags::EXACT, flags::EXACT, 0, 0]);
        let sources = [GradientSource::Measured, GradientSource::Exact, GradientSource::Estimated];
        assert_eq!(std::array::from_fn(|i| gradient_source(block.flags[i])), sources);
        assert_eq!(block.norm_sq[0], 0.25);
        // (1 − 2p + C)·w²/T².
        let exact = 1.0 - 2.0 * (-1.0_f64).exp() + 0.3;
        assert!((block.norm_sq[1] - exact).abs() < 1e-12);
        assert!(block.norm_sq_low[2] < exact && exact < block.norm_sq_high[2]);
    }

    #[test]
    fn ratios_weigh_and_clip() {
        let columns = TokenSlices {
            logprob: &[-1.0; 4],
            entropy: &[1.5; 4],
            advantage: &[1.0, 1.0, -1.0, -1.0],
            logprob_new: Some(&[-0.5, f32::NAN, -2.0, -0.5]),
            ..TokenSlices::default()
        };
        let block = computed(&kernel(Some(ClipRange { low: 0.2, high: 0.28 }), 1.0), &columns);
        let expected = [0.0, 1.0, 0.0, -(0.5_f64.exp())];
        for (i, weight) in expected.into_iter().enumerate() {
            assert!((block.weight[i] - weight).abs() < 1e-13, "{i}");
            assert_eq!(block.flags[i], if weight == 0.0 { flags::CLIPPED } else { 0 });
        }
    }

    #[test]
    fn blocks_cover_a_chunk() {
        let values = vec![-1.0_f32; BLOCK + 3];
        let columns = TokenSlices { logprob: &values, entropy: &values[..5], ..TokenSlices::default() };
        assert_eq!(columns.block_at(0).logprob.len(), BLOCK);
        assert_eq!(columns.block_at(BLOCK).logprob.len(), 3);
        assert!(columns.block_at(BLOCK).entropy.is_empty());
        assert!(columns.block_at(9 * BLOCK).logprob.is_empty());
    }

    fn check(
        block: &TokenBlock,
        i: usize,
        logprob: f32,
        entropy: f32,
        advantage: f32,
    ) -> Result<(), TestCaseError> {
        let (logprob, entropy, weight) = (f64::from(logprob), f64::from(entropy), f64::from(advantage));
        let state = ConditionalState::new(logprob, entropy, f64::from(V - 1).ln());
        let bounds = collision_bounds(state.conditional_entropy, V - 1);
        let norm = SquaredNorm::estimated(&state, &bounds, weight * weight);
        let at = format!("{logprob} {entropy} {weight} {state:?}");
        prop_assert!((block.probability[i] / state.probability - 1.0).abs() < 1e-12, "{at}");
        if state.complement > 1e-20 {
            let off = (f64::from(block.conditional_entropy[i]) - state.conditional_entropy).abs();
            prop_assert!(off < ENTROPY_ERROR, "{at} {off}");
        }
        let slack = weight * weight * state.complement.powi(2) * TABLE_SLACK;
        prop_assert!(block.norm_sq_low[i] <= norm.low * (1.0 + 1e-12), "{at}");
        prop_assert!(block.norm_sq_low[i] >= norm.low - slack, "{at}");
        prop_assert!(block.norm_sq_high[i] >= norm.high * (1.0 - 1e-12), "{at}");
        prop_assert!(block.norm_sq_high[i] <= norm.high + slack, "{at}");
        if state.feasible {
            let change = change_interval(logprob, &state, &bounds).times_weight(weight);
            prop_assert!(block.change_low[i] <= change.low, "{at} {change:?} {}", block.change_low[i]);
            prop_assert!(block.change_high[i] >= change.high, "{at} {change:?} {}", block.change_high[i]);
            let ln_mass = state.ln_complement + bounds.ln_heaviest;
            let direction = certified_direction(logprob, entropy, ln_mass, weight) as u8;
            let unsure = block.direction[i] == EntropyDirection::Ambiguous as u8;
            prop_assert!(unsure || block.direction[i] == direction, "{at}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn blocks_agree_with_single_tokens_and_round_outward(
            tokens in prop::collection::vec((-14.0..4.0_f32, 0.0..1.05_f32, -3.0..3.0_f32), 1..BLOCK),
        ) {
            let logprob: Vec<f32> = tokens.iter().map(|t| -t.0.exp()).collect();
            // Mostly feasible entropies: a share of the range that p leaves.
            let entropy: Vec<f32> = tokens
                .iter()
                .zip(&logprob)
                .map(|(t, &l)| {
                    let s = ConditionalState::new(f64::from(l), 0.0, f64::from(V - 1).ln());
                    let share = f64::from(t.1) * s.complement * f64::from(V - 1).ln();
                    (s.clamped_entropy(f64::from(l)) + share) as f32
                })
                .collect();
            let advantage: Vec<f32> = tokens.iter().map(|t| t.2).collect();
            let columns = TokenSlices {
                logprob: &logprob, entropy: &entropy, advantage: &advantage, ..TokenSlices::default()
            };
            let block = computed(&kernel(None, 1.0), &columns);
            for i in 0..tokens.len() {
                check(&block, i, logprob[i], entropy[i], advantage[i])?;
            }
        }
    }
}
