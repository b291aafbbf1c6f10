//! Tokens kept one by one, as many as fit: all of a small run, a uniform sample of a large one.
//!
//! A token is kept while the hash of its response and position has enough leading zeros. How many
//! is enough depends on the number of tokens alone, so the sample is the same for any order of
//! files and any number of threads.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::pieces::Pieces;

/// A token with what sweeps, rules and correlations need of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SampledToken {
    /// Hash of response and position.
    pub hash: u32,
    /// Number of the batch: of the worker's table while collecting, of the run's afterwards.
    pub batch: u32,
    /// Token id, or the missing one.
    pub token_id: i32,
    /// ln p.
    pub logprob: f32,
    /// H.
    pub entropy: f32,
    /// A.
    pub advantage: f32,
    /// ρ; 1 where not logged.
    pub ratio: f32,
    /// exp of the mean of ln ρ over the response; 1 where not logged.
    pub response_ratio: f32,
    /// Lower end of ‖g‖.
    pub norm_low: f32,
    /// ‖g‖.
    pub norm: f32,
    /// Upper end of ‖g‖.
    pub norm_high: f32,
    /// ‖g‖ if clipping did not cut the token.
    pub unclipped_norm: f32,
    /// Lower end of the entropy change.
    pub change_low: f32,
    /// Upper end of the entropy change.
    pub change_high: f32,
    /// Measured entropy change; NaN where not logged.
    pub measured_change: f32,
    /// Code of the certified direction.
    pub direction: u8,
    /// Whether w ≠ 0.
    pub moves: bool,
}

impl SampledToken {
    /// ‖g‖².
    pub fn energy(&self) -> f64 {
        f64::from(self.norm) * f64::from(self.norm)
    }

    /// ‖g‖² if clipping did not cut the token.
    pub fn unclipped_energy(&self) -> f64 {
        f64::from(self.unclipped_norm) * f64::from(self.unclipped_norm)
    }

    /// Whether clipping cuts the token.
    pub fn is_clipped(&self) -> bool {
        !self.moves && self.advantage != 0.0
    }

    fn content(&self) -> ([u32; 12], i32, u8, bool) {
        let numbers = [
            self.logprob,
            self.entropy,
            self.advantage,
            self.ratio,
            self.response_ratio,
            self.norm_low,
            self.norm,
            self.norm_high,
            self.unclipped_norm,
            self.change_low,
            self.change_high,
            self.measured_change,
        ];
        (numbers.map(f32::to_bits), self.token_id, self.direction, self.moves)
    }
}

/// Something that is kept or not by a hash.
pub trait Sampled: Default {
    /// What most are told apart by.
    type Leading: Ord + Copy;

    /// The hash.
    fn hash(&self) -> u32;

    /// What their order looks at first.
    fn leading(&self) -> Self::Leading;

    /// An order that depends on nothing but the content: only equal ones tie.
    fn order(&self, other: &Self) -> Ordering;
}

impl Sampled for SampledToken {
    type Leading = u64;

    fn hash(&self) -> u32 {
        self.hash
    }

    fn leading(&self) -> u64 {
        (u64::from(self.batch) << 32) | u64::from(self.hash)
    }

    /// The same token may be logged at several passes over a batch, which differ in ratio and norm
    /// alone.
    fn order(&self, other: &Self) -> Ordering {
        self.leading().cmp(&other.leading()).then_with(|| self.content().cmp(&other.content()))
    }
}

/// How many leading zeros the hashes of kept tokens must have, over all workers.
#[derive(Debug)]
pub struct SampleGate {
    level: AtomicU32,
    counts: [AtomicU64; 33],
    pub(super) limits: SampleLimits,
}

/// How many are kept at most: of all, and of a sample of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SampleLimits {
    /// As long as none was left out.
    pub all: u64,
    /// From then on.
    pub sampled: u64,
}

impl SampleLimits {
    /// At most this many of all: they are worth more memory than a sample of them.
    pub fn of_all(all: u64) -> Self {
        Self { all, sampled: all / 4 }
    }

    pub(super) fn at(self, level: u32) -> u64 {
        if level == 0 { self.all } else { self.sampled }
    }
}

impl SampleGate {
    /// A gate for at most `limit` tokens.
    pub fn new(limit: u64) -> Self {
        Self::keeping(SampleLimits::of_all(limit))
    }

    /// A gate with limits of its own.
    pub fn keeping(limits: SampleLimits) -> Self {
        Self { level: AtomicU32::new(0), counts: std::array::from_fn(|_| AtomicU64::new(0)), limits }
    }

    /// The present level.
    pub fn level(&self) -> u32 {
        self.level.load(Relaxed)
    }

    /// Keeps no more than another part of the same run at this level does: both together keep no more, either.
    pub(super) fn follow(&self, level: u32) {
        self.level.fetch_max(level, Relaxed);
    }

    /// Kept tokens by leading zeros, as far as they were counted.
    pub(super) fn counts(&self) -> Vec<u64> {
        self.counts.iter().map(|count| count.load(Relaxed)).collect()
    }

    /// Counts kept tokens by leading zeros; raises the level where there are too many.
    pub fn report(&self, fresh: &[u64; 33]) {
        for (count, more) in self.counts.iter().zip(fresh) {
            if *more > 0 {
                count.fetch_add(*more, Relaxed);
            }
        }
        let mut level = self.level();
        let above =
            |level: u32| -> u64 { self.counts[level as usize..].iter().map(|c| c.load(Relaxed)).sum() };
        while level < 32 && above(level) > self.limits.at(level) {
            level += 1;
        }
        self.level.fetch_max(level, Relaxed);
    }
}

/// The largest hash that is kept at a level.
pub fn largest_hash(level: u32) -> u32 {
    u32::MAX.checked_shr(level).unwrap_or(0)
}

/// Tokens that a worker keeps before it asks how many are wanted: one response can have millions.
const UNSETTLED: usize = 1 << 15;

/// What one worker kept.
#[derive(Debug)]
pub struct SampleBuffer<T> {
    kept: Pieces<T>,
    fresh: [u64; 33],
    unsettled: usize,
    level: u32,
}

impl<T> Default for SampleBuffer<T> {
    fn default() -> Self {
        Self { kept: Pieces::default(), fresh: [0; 33], unsettled: 0, level: 0 }
    }
}

impl<T: Sampled> SampleBuffer<T> {
    /// The largest hash worth pushing.
    #[inline]
    pub fn cut(&self) -> u32 {
        largest_hash(self.level)
    }

    /// Keeps a token whose hash is at most [`Self::cut`].
    #[inline]
    pub fn push(&mut self, token: T) {
        self.fresh[token.hash().leading_zeros() as usize] += 1;
        self.unsettled += 1;
        self.kept.push(token);
    }

    /// Whether it is time to settle, in the middle of a batch.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.unsettled >= UNSETTLED
    }

    /// Tells the gate what is new and drops what no longer belongs.
    pub fn settle(&mut self, gate: &SampleGate) {
        gate.report(&self.fresh);
        self.fresh = [0; 33];
        self.unsettled = 0;
        self.drop_below(gate.level());
    }

    pub(super) fn drop_below(&mut self, level: u32) {
        if level > self.level {
            self.level = level;
            let cut = self.cut();
            self.kept.retain(|token| token.hash() <= cut);
        }
    }

    /// All of them.
    pub(super) fn into_pieces(self) -> Pieces<T> {
        self.kept
    }

    /// Changes what was kept; not its hashes.
    pub fn for_each(&mut self, change: impl FnMut(&mut T)) {
        self.kept.iter_mut().for_each(change);
    }
}
