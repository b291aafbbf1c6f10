//! The passes over a block. Each is a loop of its own where the compiler would otherwise branch or
//! mix element sizes, and so not vectorise.

// One index into many arrays of one constant length is what vectorises; zips of ten do not read.
#![allow(clippy::needless_range_loop)]

use crate::collision::CollisionBounds;
use crate::collision_table::{CollisionTable, ENTROPY_ERROR};
use crate::entropy_change::{change_interval, direction_code, exact_change};
use crate::fast_math;
use crate::feasible::{ConditionalState, FEASIBILITY_TOLERANCE};
use crate::norm::{clamp_into, conditional_collision, point_estimate, squared_norm};
use crate::token::ClipRange;

use super::{BLOCK, BatchSettings, TokenBlock, TokenSlices, flags};

/// Complements below this are treated as this where they divide; the norm is nothing there.
const LEAST_COMPLEMENT: f32 = 1e-30;

/// ln ρ is clamped to ± this, so that w² stays finite for sentinels like −9999.
const LARGEST_LOG_RATIO: f32 = 100.0;

/// Computes the quantities of a run's tokens; shared between threads.
#[derive(Debug, Clone)]
pub struct BatchKernel {
    table: CollisionTable,
    clip: Option<ClipRange>,
    inverse_temperature_squared: f64,
}

impl BatchKernel {
    /// Prepares the tables of a run.
    #[must_use]
    pub fn new(settings: &BatchSettings) -> Self {
        Self {
            table: CollisionTable::new(settings.vocab_size),
            clip: settings.clip,
            inverse_temperature_squared: settings.temperature.powi(-2),
        }
    }

    /// Fills probabilities, weights, norms and flags from the first [`BLOCK`] tokens of `columns`.
    #[inline(always)]
    pub fn gradients(&self, columns: &TokenSlices<'_>, block: &mut TokenBlock) {
        block.load(columns);
        self.gradients_of_loaded(columns, block);
    }

    /// The same of a block that was [loaded](TokenBlock::load) from these columns.
    #[inline(always)]
    pub fn gradients_of_loaded(&self, columns: &TokenSlices<'_>, block: &mut TokenBlock) {
        self.split_entropies(block);
        if let Some(logprob_new) = columns.logprob_new {
            apply_ratios(logprob_new, self.clip, block);
        }
        self.bound_collisions(block);
        self.estimate_norms(block);
        if let Some(sum_pi_sq) = columns.sum_pi_sq {
            self.use_exact_norms(sum_pi_sq, block);
        }
        if let Some(grad_norm) = columns.grad_norm {
            use_measured_norms(grad_norm, block);
        }
    }

    /// Fills probabilities and the flags that need no gradient of a block that was [loaded](TokenBlock::load): enough
    /// where all advantages are 0.
    #[inline(always)]
    pub fn probabilities_of_loaded(&self, block: &mut TokenBlock) {
        self.split_entropies(block);
    }

    /// Fills the entropy changes of the block that [`gradients`](Self::gradients) has just filled
    /// from the same columns.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub fn entropy_changes(&self, columns: &TokenSlices<'_>, block: &mut TokenBlock) {
        let n = block.padded_len();
        for i in 0..n {
            let logprob = f64::from(block.input.logprob[i]);
            let change = change_interval(logprob, &block.state(i), &block.bounds(i));
            let change = change.times_weight(block.weight[i]);
            block.change_low[i] = change.low;
            block.change_high[i] = change.high;
        }
        for i in 0..n {
            let (logprob, entropy) = (f64::from(block.input.logprob[i]), f64::from(block.input.entropy[i]));
            let ln_heaviest_mass = f64::from(block.ln_complement[i]) + block.bounds(i).ln_heaviest;
            let certain = ln_heaviest_mass + ENTROPY_ERROR;
            block.scratch.wide_codes[i] = direction_code(logprob, entropy, certain, block.weight[i]);
        }
        for i in 0..n {
            block.direction[i] = low_byte(block.scratch.wide_codes[i] as f32);
        }
        if let (Some(c), Some(s)) = (columns.sum_pi_sq, columns.sum_pi_sq_log_pi) {
            use_exact_changes(c, s, block);
        }
    }

    /// p and q in f64, since sums of them are reported; H' in f32, since it only feeds the bounds,
    /// which allow for its error.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn split_entropies(&self, block: &mut TokenBlock) {
        let n = block.padded_len();
        let max_entropy = self.table.max_entropy() as f32;
        let tolerance = FEASIBILITY_TOLERANCE as f32;
        for i in 0..n {
            let pair = fast_math::exp_pair(f64::from(block.input.logprob[i]));
            (block.probability[i], block.complement[i]) = pair;
            (block.scratch.p[i], block.scratch.q[i]) = (pair.0 as f32, pair.1 as f32);
        }
        for i in 0..n {
            let (p, q) = (block.scratch.p[i], block.scratch.q[i]);
            let logprob = if block.input.logprob[i] < 0.0 { block.input.logprob[i] } else { 0.0 };
            // A certain token has no others; the floor keeps its logarithm and quotient finite.
            let divisor = if q > LEAST_COMPLEMENT { q } else { LEAST_COMPLEMENT };
            let ln_q = fast_math::ln_f32(divisor);
            let unclamped = (block.input.entropy[i] + p * logprob) / divisor + ln_q;
            let floored = if unclamped > 0.0 { unclamped } else { 0.0 };
            block.ln_complement[i] = ln_q;
            block.conditional_entropy[i] = if floored < max_entropy { floored } else { max_entropy };
            let excess = unclamped * divisor;
            let feasible = (excess >= -tolerance)
                & (excess <= q * max_entropy + tolerance)
                & (block.input.logprob[i] <= tolerance);
            let code = if feasible { 0.0 } else { f32::from(flags::INFEASIBLE) };
            block.scratch.codes[i] = block.input.missing[i] + code;
        }
        for i in 0..n {
            block.flags[i] = low_byte(block.scratch.codes[i]);
            block.weight[i] = f64::from(block.input.advantage[i]);
            block.probability[i] *= 1.0 - f64::from(block.input.missing[i]);
        }
    }

    #[inline(always)]
    fn bound_collisions(&self, block: &mut TokenBlock) {
        let (n, lines) = (block.padded_len(), self.table.lines());
        for i in 0..n {
            let [min, max, ln_heaviest, _] = lines(block.conditional_entropy[i]);
            block.collision_min[i] = min;
            block.collision_max[i] = max;
            block.ln_heaviest[i] = ln_heaviest;
        }
    }

    #[inline(always)]
    fn estimate_norms(&self, block: &mut TokenBlock) {
        let n = block.padded_len();
        for i in 0..n {
            let scale = self.scale(block.weight[i]);
            let q = block.complement[i];
            let CollisionBounds { min, max, .. } = block.bounds(i);
            block.norm_sq_low[i] = squared_norm(scale, q, min);
            block.norm_sq[i] = squared_norm(scale, q, point_estimate(min, max));
            block.norm_sq_high[i] = squared_norm(scale, q, max);
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn use_exact_norms(&self, sum_pi_sq: &[f64], block: &mut TokenBlock) {
        let n = block.padded_len();
        fill(&mut block.scratch.logged[..n], sum_pi_sq, f64::NAN);
        for i in 0..n {
            let q = block.complement[i];
            let CollisionBounds { min, max, .. } = block.bounds(i);
            let logged = block.scratch.logged[i];
            let conditional = conditional_collision(logged, block.probability[i], q);
            let norm_sq = squared_norm(self.scale(block.weight[i]), q, clamp_into(conditional, min, max));
            let known = (logged > 0.0) & (logged < f64::INFINITY) & (block.input.missing[i] == 0.0);
            let (low, point, high) = (block.norm_sq_low[i], block.norm_sq[i], block.norm_sq_high[i]);
            block.norm_sq_low[i] = if known { norm_sq } else { low };
            block.norm_sq[i] = if known { norm_sq } else { point };
            block.norm_sq_high[i] = if known { norm_sq } else { high };
            block.scratch.wide_codes[i] = if known { f64::from(flags::EXACT) } else { 0.0 };
        }
        for i in 0..n {
            block.flags[i] |= low_byte(block.scratch.wide_codes[i] as f32);
        }
    }

    /// ‖g‖² of token `i` of a block at a weight of the caller's, from p, H and Σ π² where logged: what
    /// a token that clipping cuts would have.
    #[must_use]
    pub fn norm_sq_at(&self, block: &TokenBlock, i: usize, weight: f64, sum_pi_sq: Option<f64>) -> f64 {
        let q = block.complement[i];
        let CollisionBounds { min, max, .. } = block.bounds(i);
        let logged = sum_pi_sq.filter(|logged| *logged > 0.0 && logged.is_finite());
        let conditional = match logged {
            Some(logged) => clamp_into(conditional_collision(logged, block.probability[i], q), min, max),
            None => point_estimate(min, max),
        };
        squared_norm(self.scale(weight), q, conditional)
    }

    /// ‖g‖² of token `i` of a block at w = 1, straight from a logged Σ π²: q² + Σ_{v≠k} π_v². Neither p and H nor clipping
    /// have a say in it, so that it can be held against them; `None` where the sum is not one.
    #[must_use]
    pub fn unit_norm_sq_at(&self, block: &TokenBlock, i: usize, sum_pi_sq: f64) -> Option<f64> {
        let (p, q) = (block.probability[i], block.complement[i]);
        (sum_pi_sq > 0.0 && sum_pi_sq.is_finite())
            .then(|| self.scale(1.0) * (q * q + (sum_pi_sq - p * p).max(0.0)))
    }

    /// w²/T².
    #[inline(always)]
    fn scale(&self, weight: f64) -> f64 {
        weight * weight * self.inverse_temperature_squared
    }
}

impl TokenBlock {
    #[inline(always)]
    fn state(&self, i: usize) -> ConditionalState {
        ConditionalState {
            probability: self.probability[i],
            complement: self.complement[i],
            ln_complement: f64::from(self.ln_complement[i]),
            conditional_entropy: f64::from(self.conditional_entropy[i]),
            rounding: ENTROPY_ERROR,
            feasible: self.flags[i] & flags::INFEASIBLE == 0,
        }
    }

    #[inline(always)]
    fn bounds(&self, i: usize) -> CollisionBounds {
        let (max, ln_heaviest) = (self.collision_max[i], self.ln_heaviest[i]);
        CollisionBounds {
            min: f64::from(self.collision_min[i]),
            max: f64::from(if max < 1.0 { max } else { 1.0 }),
            ln_heaviest: f64::from(if ln_heaviest < 0.0 { ln_heaviest } else { 0.0 }),
        }
    }
}

/// The three columns every token needs, with 0 for all of a token that lacks one.
///
/// In a pass of its own: next to the arithmetic the compiler would branch on what is missing.
#[derive(Debug, Clone)]
pub(super) struct Present {
    pub logprob: [f32; BLOCK],
    pub entropy: [f32; BLOCK],
    pub advantage: [f32; BLOCK],
    /// The code of [`flags::MISSING`] or 0.
    missing: [f32; BLOCK],
}

impl Default for Present {
    fn default() -> Self {
        let zero = [0.0; BLOCK];
        Self { logprob: zero, entropy: zero, advantage: zero, missing: zero }
    }
}

/// Values between two passes.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    p: [f32; BLOCK],
    q: [f32; BLOCK],
    codes: [f32; BLOCK],
    /// Codes that are found by doubles.
    wide_codes: [f64; BLOCK],
    /// A column, filled up.
    logged: [f64; BLOCK],
}

impl Default for Scratch {
    fn default() -> Self {
        let zero = [0.0; BLOCK];
        Self { p: zero, q: zero, codes: zero, wide_codes: [0.0; BLOCK], logged: [0.0; BLOCK] }
    }
}

impl TokenBlock {
    /// Takes the first [`BLOCK`] tokens of `columns`.
    #[inline(always)]
    pub fn load(&mut self, columns: &TokenSlices<'_>) {
        self.len = columns.logprob.len().min(BLOCK);
        let n = self.padded_len();
        let input = &mut self.input;
        fill(&mut input.logprob[..n], columns.logprob, f32::NAN);
        fill(&mut input.entropy[..n], columns.entropy, f32::NAN);
        fill(&mut input.advantage[..n], columns.advantage, f32::NAN);
        for i in 0..n {
            let (l, h, a) = (input.logprob[i], input.entropy[i], input.advantage[i]);
            let present = l.is_finite() & h.is_finite() & a.is_finite();
            input.logprob[i] = if present { l } else { 0.0 };
            input.entropy[i] = if present { h } else { 0.0 };
            input.advantage[i] = if present { a } else { 0.0 };
            input.missing[i] = if present { 0.0 } else { f32::from(flags::MISSING) };
        }
    }
}

/// Copies a column; `beyond` stands after its end.
#[inline(always)]
fn fill<T: Copy>(into: &mut [T], column: &[T], beyond: T) {
    let known = column.len().min(into.len());
    into[..known].copy_from_slice(&column[..known]);
    into[known..].fill(beyond);
}

/// A small non-negative integer held by an f32, read from the mantissa.
#[inline]
#[allow(clippy::cast_possible_truncation)]
fn low_byte(code: f32) -> u8 {
    const TWO_TO_23: f32 = 8_388_608.0;
    (code + TWO_TO_23).to_bits() as u8
}

#[inline(always)]
fn apply_ratios(logprob_new: &[f32], clip: Option<ClipRange>, block: &mut TokenBlock) {
    let n = block.padded_len();
    let clip = clip.unwrap_or(ClipRange { low: f64::INFINITY, high: f64::INFINITY });
    fill(&mut block.scratch.p[..n], logprob_new, f32::NAN);
    for i in 0..n {
        let difference = block.scratch.p[i] - block.input.logprob[i];
        let known = if difference.is_finite() { difference } else { 0.0 };
        block.scratch.p[i] = known.clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO);
    }
    for i in 0..n {
        let rho = fast_math::exp(f64::from(block.scratch.p[i]));
        let cuts = clip.cuts(rho, block.weight[i]);
        block.weight[i] *= if cuts { 0.0 } else { rho };
        block.scratch.codes[i] = if cuts { f32::from(flags::CLIPPED) } else { 0.0 };
    }
    for i in 0..n {
        block.flags[i] |= low_byte(block.scratch.codes[i]);
    }
}

#[inline(always)]
fn use_measured_norms(grad_norm: &[f32], block: &mut TokenBlock) {
    let n = block.padded_len();
    fill(&mut block.scratch.p[..n], grad_norm, f32::NAN);
    for i in 0..n {
        let norm = block.scratch.p[i];
        let known = (0.0..f32::INFINITY).contains(&norm) & (block.input.missing[i] == 0.0);
        block.scratch.p[i] = if known { norm } else { -1.0 };
        block.scratch.codes[i] = if known { f32::from(flags::MEASURED) } else { 0.0 };
    }
    for i in 0..n {
        let norm = f64::from(block.scratch.p[i]);
        let (low, point, high) = (block.norm_sq_low[i], block.norm_sq[i], block.norm_sq_high[i]);
        let (known, norm_sq) = (norm >= 0.0, norm * norm);
        block.norm_sq_low[i] = if known { norm_sq } else { low };
        block.norm_sq[i] = if known { norm_sq } else { point };
        block.norm_sq_high[i] = if known { norm_sq } else { high };
    }
    for i in 0..n {
        block.flags[i] |= low_byte(block.scratch.codes[i]);
    }
}

fn use_exact_changes(sum_pi_sq: &[f64], sum_pi_sq_log_pi: &[f64], block: &mut TokenBlock) {
    for (i, (&c, &s)) in sum_pi_sq.iter().zip(sum_pi_sq_log_pi).enumerate().take(block.len) {
        let (logprob, entropy) = (f64::from(block.input.logprob[i]), f64::from(block.input.entropy[i]));
        let unit = exact_change(logprob, block.probability[i], entropy, c, s);
        let exact = unit * block.weight[i];
        if exact.is_finite() {
            // Logged sums are rounded: what p and H rule out is rounding, not a change.
            let exact = clamp_into(exact, block.change_low[i], block.change_high[i]);
            (block.change_low[i], block.change_high[i]) = (exact, exact);
        }
    }
}
