//! The framework over slices: all quantities of a block of tokens in a few passes that vectorise.
//!
//! Inputs are copied into arrays of a fixed size and padded with NaN to a multiple of the vector
//! length, so the loops have no bounds checks, and everything stays in the first-level cache. A subset of what an
//! analysis computes takes 4.7 to 5.8 times as long by expressions of Polars (`benches/against_others.py`).

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
        // Bits that are cleared are bits that the compiler knows of: loops need no other end.
        ((self.len + LANES - 1) & !(LANES - 1)).min(BLOCK)
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
mod tests;
