//! The framework over slices: all quantities of a block of tokens in a few passes that vectorise.
//!
//! A block has a fixed size: inputs are copied into arrays padded with NaN, so the loops have
//! constant length and no bounds checks, and everything stays in the first-level cache.

use super::collision::CollisionBounds;
use super::collision_table::CollisionTable;
use super::entropy_change::{EntropyDirection, certified_direction, change_interval, exact_change};
use super::fast_math;
use super::feasible::ConditionalState;
use super::norm::{clamp_into, conditional_collision, point_estimate, squared_norm};
use super::token::ClipRange;

/// Most tokens of one block.
pub const BLOCK: usize = 256;

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

/// Columns of one chunk of tokens. Missing values are NaN; a column shorter than `logprob` is
/// missing beyond its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenColumns<'a> {
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
    pub sum_pi_sq: Option<&'a [f32]>,
    /// Σ π² ln π.
    pub sum_pi_sq_log_pi: Option<&'a [f32]>,
}

impl<'a> TokenColumns<'a> {
    /// The tokens from `start` on, at most [`BLOCK`] of them.
    #[must_use]
    pub fn block_at(&self, start: usize) -> Self {
        let cut = |column: &'a [f32]| {
            let rest = column.get(start..).unwrap_or_default();
            rest.get(..BLOCK).unwrap_or(rest)
        };
        Self {
            logprob: cut(self.logprob),
            entropy: cut(self.entropy),
            advantage: cut(self.advantage),
            logprob_new: self.logprob_new.map(cut),
            grad_norm: self.grad_norm.map(cut),
            sum_pi_sq: self.sum_pi_sq.map(cut),
            sum_pi_sq_log_pi: self.sum_pi_sq_log_pi.map(cut),
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
    /// T, if the gradient is wanted with respect to logits before division by it; else 1.
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
    pub conditional_entropy: [f64; BLOCK],
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
    /// Certified direction of the entropy change.
    pub direction: [EntropyDirection; BLOCK],
    complement: [f64; BLOCK],
    ln_complement: [f64; BLOCK],
    collision_min: [f64; BLOCK],
    collision_max: [f64; BLOCK],
    ln_heaviest: [f64; BLOCK],
}

impl Default for TokenBlock {
    fn default() -> Self {
        let zero = [0.0; BLOCK];
        Self {
            len: 0,
            probability: zero,
            weight: zero,
            conditional_entropy: zero,
            norm_sq_low: zero,
            norm_sq: zero,
            norm_sq_high: zero,
            flags: [0; BLOCK],
            change_low: zero,
            change_high: zero,
            direction: [EntropyDirection::Unchanged; BLOCK],
            complement: zero,
            ln_complement: zero,
            collision_min: zero,
            collision_max: zero,
            ln_heaviest: zero,
        }
    }
}

impl TokenBlock {
    /// Number of tokens; the arrays beyond it hold missing ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

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
    pub fn gradients(&self, columns: &TokenColumns<'_>, block: &mut TokenBlock) {
        block.len = columns.logprob.len().min(BLOCK);
        let input = Present::of(columns);
        self.split_entropies(&input, block);
        if let Some(logprob_new) = columns.logprob_new {
            apply_ratios(&input, &padded(logprob_new), self.clip, block);
        }
        self.bound_collisions(block);
        self.estimate_norms(block);
        if let Some(sum_pi_sq) = columns.sum_pi_sq {
            self.use_exact_norms(&padded(sum_pi_sq), block);
        }
        if let Some(grad_norm) = columns.grad_norm {
            use_measured_norms(&padded(grad_norm), block);
        }
    }

    /// Fills the entropy changes of the block that [`gradients`](Self::gradients) has just filled
    /// from the same columns.
    pub fn entropy_changes(&self, columns: &TokenColumns<'_>, block: &mut TokenBlock) {
        let input = Present::of(columns);
        for i in 0..BLOCK {
            let (state, bounds) = (block.state(i), block.bounds(i));
            let change = change_interval(input.logprob[i], &state, &bounds);
            let change = change.times_weight(block.weight[i]);
            block.change_low[i] = change.low;
            block.change_high[i] = change.high;
        }
        for i in 0..BLOCK {
            let ln_heaviest_mass = block.ln_complement[i] + block.ln_heaviest[i];
            let unit = certified_direction(input.logprob[i], input.entropy[i], ln_heaviest_mass);
            block.direction[i] = unit.times_weight(block.weight[i]);
        }
        if let (Some(c), Some(s)) = (columns.sum_pi_sq, columns.sum_pi_sq_log_pi) {
            use_exact_changes(&input, &padded(c), &padded(s), block);
        }
    }

    fn split_entropies(&self, input: &Present, block: &mut TokenBlock) {
        let max_entropy = self.table.max_entropy();
        let mut infeasible = [0.0; BLOCK];
        for i in 0..BLOCK {
            let state = ConditionalState::new(input.logprob[i], input.entropy[i], max_entropy);
            block.probability[i] = state.probability;
            block.complement[i] = state.complement;
            block.ln_complement[i] = state.ln_complement;
            block.conditional_entropy[i] = state.conditional_entropy;
            infeasible[i] = if state.feasible { 0.0 } else { f64::from(flags::INFEASIBLE) };
        }
        for i in 0..BLOCK {
            block.probability[i] *= 1.0 - input.missing[i];
            block.weight[i] = input.advantage[i];
            block.flags[i] = low_byte(infeasible[i] + input.missing[i]);
        }
    }

    fn bound_collisions(&self, block: &mut TokenBlock) {
        for i in 0..BLOCK {
            let bounds = self.table.bounds(block.conditional_entropy[i]);
            block.collision_min[i] = bounds.min;
            block.collision_max[i] = bounds.max;
            block.ln_heaviest[i] = bounds.ln_heaviest;
        }
    }

    fn estimate_norms(&self, block: &mut TokenBlock) {
        for i in 0..BLOCK {
            let scale = self.scale(block.weight[i]);
            let (q, min, max) = (block.complement[i], block.collision_min[i], block.collision_max[i]);
            block.norm_sq_low[i] = squared_norm(scale, q, min);
            block.norm_sq[i] = squared_norm(scale, q, point_estimate(min, max));
            block.norm_sq_high[i] = squared_norm(scale, q, max);
        }
    }

    fn use_exact_norms(&self, sum_pi_sq: &[f32; BLOCK], block: &mut TokenBlock) {
        for (i, &logged) in sum_pi_sq.iter().enumerate() {
            let logged = f64::from(logged);
            let (p, q) = (block.probability[i], block.complement[i]);
            let conditional = conditional_collision(logged, p, q);
            let conditional = clamp_into(conditional, block.collision_min[i], block.collision_max[i]);
            let known = (logged > 0.0) & (logged < f64::INFINITY);
            let norm_sq = squared_norm(self.scale(block.weight[i]), q, conditional);
            block.set_known(i, known, norm_sq, flags::EXACT);
        }
    }

    /// w²/T².
    #[inline]
    fn scale(&self, weight: f64) -> f64 {
        weight * weight * self.inverse_temperature_squared
    }
}

impl TokenBlock {
    #[inline]
    fn set_known(&mut self, i: usize, known: bool, norm_sq: f64, source: u8) {
        let known = known & (self.flags[i] & flags::MISSING == 0);
        self.norm_sq_low[i] = if known { norm_sq } else { self.norm_sq_low[i] };
        self.norm_sq[i] = if known { norm_sq } else { self.norm_sq[i] };
        self.norm_sq_high[i] = if known { norm_sq } else { self.norm_sq_high[i] };
        self.flags[i] |= u8::from(known) * source;
    }

    #[inline]
    fn state(&self, i: usize) -> ConditionalState {
        ConditionalState {
            probability: self.probability[i],
            complement: self.complement[i],
            ln_complement: self.ln_complement[i],
            conditional_entropy: self.conditional_entropy[i],
            feasible: self.flags[i] & flags::INFEASIBLE == 0,
        }
    }

    #[inline]
    fn bounds(&self, i: usize) -> CollisionBounds {
        CollisionBounds {
            min: self.collision_min[i],
            max: self.collision_max[i],
            ln_heaviest: self.ln_heaviest[i],
        }
    }
}

/// The three columns every token needs, as f64, with 0 for all of a token that lacks one.
///
/// In a pass of its own: next to the arithmetic the compiler would branch on what is missing.
struct Present {
    logprob: [f64; BLOCK],
    entropy: [f64; BLOCK],
    advantage: [f64; BLOCK],
    /// The code of [`flags::MISSING`] or 0.
    missing: [f64; BLOCK],
}

impl Present {
    fn of(columns: &TokenColumns<'_>) -> Self {
        let zero = [0.0; BLOCK];
        let mut input = Self { logprob: zero, entropy: zero, advantage: zero, missing: zero };
        let logprob = padded(columns.logprob);
        let entropy = padded(columns.entropy);
        let advantage = padded(columns.advantage);
        for i in 0..BLOCK {
            let (l, h, a) = (logprob[i], entropy[i], advantage[i]);
            // x − x is 0 for finite x and NaN for all else.
            let present = (l - l) + (h - h) + (a - a) == 0.0;
            input.logprob[i] = f64::from(if present { l } else { 0.0 });
            input.entropy[i] = f64::from(if present { h } else { 0.0 });
            input.advantage[i] = f64::from(if present { a } else { 0.0 });
            input.missing[i] = f64::from(if present { 0.0 } else { f32::from(flags::MISSING) });
        }
        input
    }
}

/// A small non-negative integer held by an f64, read from the mantissa.
#[inline]
#[allow(clippy::cast_possible_truncation)]
fn low_byte(code: f64) -> u8 {
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    (code + TWO_TO_52).to_bits() as u8
}

fn padded(column: &[f32]) -> [f32; BLOCK] {
    let mut block = [f32::NAN; BLOCK];
    for (into, &value) in block.iter_mut().zip(column) {
        *into = value;
    }
    block
}

fn apply_ratios(
    input: &Present,
    logprob_new: &[f32; BLOCK],
    clip: Option<ClipRange>,
    block: &mut TokenBlock,
) {
    let clip = clip.unwrap_or(ClipRange { low: f64::INFINITY, high: f64::INFINITY });
    let mut log_ratio = [0.0; BLOCK];
    for i in 0..BLOCK {
        let difference = f64::from(logprob_new[i]) - input.logprob[i];
        log_ratio[i] = if difference - difference == 0.0 { difference } else { 0.0 };
    }
    let mut cut = [0.0; BLOCK];
    for i in 0..BLOCK {
        let rho = fast_math::exp(log_ratio[i]);
        let cuts = clip.cuts(rho, block.weight[i]);
        block.weight[i] *= if cuts { 0.0 } else { rho };
        cut[i] = if cuts { f64::from(flags::CLIPPED) } else { 0.0 };
    }
    for i in 0..BLOCK {
        block.flags[i] |= low_byte(cut[i]);
    }
}

fn use_measured_norms(grad_norm: &[f32; BLOCK], block: &mut TokenBlock) {
    for (i, &norm) in grad_norm.iter().enumerate() {
        let norm = f64::from(norm);
        let known = (norm >= 0.0) & (norm < f64::INFINITY);
        block.set_known(i, known, norm * norm, flags::MEASURED);
    }
}

fn use_exact_changes(
    input: &Present,
    sum_pi_sq: &[f32; BLOCK],
    sum_pi_sq_log_pi: &[f32; BLOCK],
    block: &mut TokenBlock,
) {
    for i in 0..BLOCK {
        let (c, s) = (f64::from(sum_pi_sq[i]), f64::from(sum_pi_sq_log_pi[i]));
        let unit = exact_change(input.logprob[i], block.probability[i], input.entropy[i], c, s);
        let exact = unit * block.weight[i];
        if exact.is_finite() {
            // Logged sums are rounded: what p and H rule out is rounding, not a change.
            let exact = clamp_into(exact, block.change_low[i], block.change_high[i]);
            (block.change_low[i], block.change_high[i]) = (exact, exact);
        }
    }
}
