//! Single values that are not data: NaN, infinities, impossible values, placeholders.
//! They become missing (NaN) and are counted; nothing is dropped silently.

use std::ops::Range;

use arrow_buffer::ScalarBuffer;

use crate::normalise::quality::{Quality, ValuePlace};
use stapo_base::simd;
use stapo_batch::batch::{MISSING_ID, TokenBatch};
use stapo_batch::columns::Column;

/// vLLM's JSON floor for a log-probability of minus infinity.
const LOGPROB_FLOOR: f32 = -9999.0;
/// Rounding may lift a log-probability of a sure token this far above zero.
const LOGPROB_SLACK: f32 = 1e-6;
/// Rounding may push an entropy this far below zero.
const ENTROPY_SLACK: f32 = 1e-4;
/// ln 2³²: token ids have 32 bits, so no distribution over them has a larger entropy, in bits (32 of which
/// a vocabulary of 2³² has) or in nats. A placeholder, or another quantity.
const LARGEST_ENTROPY: f32 = 22.180_71;
/// Values that are looked at as one before they are one by one.
const CHUNK: usize = 32;
/// Fewer tokens than this may really all have probability one.
const MIN_CONSTANT: usize = 8;

/// The batch that values belong to.
pub struct Context<'a> {
    /// Index of the file in the run.
    pub file: u32,
    /// Row of the file of each response.
    pub rows: &'a dyn Fn(usize) -> u64,
    /// Token boundaries of the responses.
    pub offsets: &'a [usize],
    /// The responses that are whole; others may go on in another batch.
    pub whole: Range<usize>,
    /// Training mask, where logged.
    pub mask: Option<&'a [u8]>,
    /// The tokens whose values are counted, where not all are: trained on, of a step that is asked for.
    pub counted: Option<&'a [u8]>,
}

impl Context<'_> {
    fn trained(&self, t: usize) -> bool {
        self.mask.is_none_or(|m| m[t] == 1)
    }

    fn counts(&self, t: usize) -> bool {
        self.counted.is_none_or(|c| c[t] == 1)
    }

    fn count(&self) -> u64 {
        let all = self.offsets.last().copied().unwrap_or(0);
        self.counted.map_or(all, |c| c.iter().filter(|f| **f == 1).count()) as u64
    }

    fn place(&self, t: usize) -> ValuePlace {
        let response = self.offsets.partition_point(|o| *o <= t) - 1;
        ValuePlace {
            file: self.file,
            row: (self.rows)(response),
            position: (t - self.offsets[response]) as u64,
        }
    }
}

#[derive(Clone, Copy)]
enum Judged {
    Good,
    Clamp,
    NotFinite,
    OutOfRange,
    Sentinel,
}

fn judge(column: Column, v: f32) -> Judged {
    if !v.is_finite() {
        Judged::NotFinite
    } else if column.is_logprob() {
        match v {
            v if v == LOGPROB_FLOOR => Judged::Sentinel,
            v if v <= 0.0 => Judged::Good,
            v if v <= LOGPROB_SLACK => Judged::Clamp,
            _ => Judged::OutOfRange,
        }
    } else if column.is_entropy() {
        match v {
            v if (0.0..=LARGEST_ENTROPY).contains(&v) => Judged::Good,
            v if (-ENTROPY_SLACK..0.0).contains(&v) => Judged::Clamp,
            _ => Judged::OutOfRange,
        }
    } else if column == Column::GradNorm && v < 0.0 {
        Judged::OutOfRange
    } else {
        Judged::Good
    }
}

/// Whether all values are plainly good: the common case, one vectorised look.
fn all_good(column: Column, values: &[f32]) -> bool {
    if column.is_logprob() {
        simd::all(values, |v| (v <= 0.0) & (v > LOGPROB_FLOOR))
    } else if column.is_entropy() {
        simd::all(values, |v| (0.0..=LARGEST_ENTROPY).contains(&v))
    } else if column == Column::GradNorm {
        simd::all(values, |v| (0.0..f32::INFINITY).contains(&v))
    } else {
        simd::all(values, f32::is_finite)
    }
}

/// Checks a number column; copies it only where something has to be changed. `nulls` is how many
/// NaNs stand for nulls of the log.
pub fn floats(
    column: Column,
    values: ScalarBuffer<f32>,
    nulls: &dyn Fn(usize) -> bool,
    context: &Context<'_>,
    quality: &mut Quality,
) -> ScalarBuffer<f32> {
    let counts = quality.column(column);
    counts.values += context.count();
    let sentinels = column.is_logprob() && untrained_zeros(&values, context, 0);
    let good = !sentinels && all_good(column, &values);
    if good && constant_zero(column, &values, context).next().is_none() {
        return values;
    }
    let mut clean = values.to_vec();
    // What is to be changed comes in stretches, so most chunks need no second look.
    let chunks = clean.chunks_mut(CHUNK).zip((0..).step_by(CHUNK));
    let changes = |chunk: &[f32], first: usize| {
        !all_good(column, chunk) || sentinels && untrained_zeros(chunk, context, first)
    };
    let chunks = chunks.filter(|(chunk, first)| changes(chunk, *first));
    for (v, t) in chunks.flat_map(|(chunk, first)| chunk.iter_mut().zip(first..)) {
        match judge(column, *v) {
            Judged::Good => {
                // Zero is what frameworks write where they computed nothing.
                if sentinels && !context.trained(t) && *v == 0.0 {
                    *v = f32::NAN;
                }
                continue;
            }
            Judged::Clamp => {
                *v = 0.0;
                continue;
            }
            _ if !context.counts(t) => {}
            Judged::NotFinite if nulls(t) => counts.null += 1,
            Judged::NotFinite => {
                counts.not_finite += 1;
                counts.note(context.place(t));
            }
            Judged::OutOfRange => {
                counts.out_of_range += 1;
                counts.note(context.place(t));
            }
            Judged::Sentinel => {
                counts.sentinel += 1;
                counts.note(context.place(t));
            }
        }
        *v = f32::NAN;
    }
    let constant: Vec<usize> = constant_zero(column, &clean, context).collect();
    for response in constant {
        let tokens = context.offsets[response]..context.offsets[response + 1];
        let counted = tokens.clone().filter(|t| context.counts(*t)).count() as u64;
        counts.sentinel += counted;
        clean[tokens].fill(f32::NAN);
        if counted > 0 {
            counts.note(context.place(context.offsets[response]));
        }
    }
    clean.into()
}

/// Checks a double column: only finite values are data.
pub fn doubles(
    column: Column,
    values: ScalarBuffer<f64>,
    nulls: &dyn Fn(usize) -> bool,
    context: &Context<'_>,
    quality: &mut Quality,
) -> ScalarBuffer<f64> {
    let counts = quality.column(column);
    counts.values += context.count();
    if simd::all(&values, f64::is_finite) {
        return values;
    }
    let mut clean = values.to_vec();
    for (t, v) in clean.iter_mut().enumerate().filter(|(_, v)| !v.is_finite()) {
        *v = f64::NAN;
        if !context.counts(t) {
            continue;
        }
        if nulls(t) {
            counts.null += 1;
        } else {
            counts.not_finite += 1;
            counts.note(context.place(t));
        }
    }
    clean.into()
}

/// Checks whole numbers: ids, turns and positions are never negative.
pub fn ids(
    column: Column,
    values: ScalarBuffer<i32>,
    nulls: &dyn Fn(usize) -> bool,
    context: &Context<'_>,
    quality: &mut Quality,
) -> ScalarBuffer<i32> {
    let counts = quality.column(column);
    counts.values += context.count();
    if simd::all(&values, |v| v >= 0) {
        return values;
    }
    let mut clean = values.to_vec();
    for (t, v) in clean.iter_mut().enumerate().filter(|(_, v)| **v < 0) {
        *v = MISSING_ID;
        if !context.counts(t) {
            continue;
        }
        if nulls(t) {
            counts.null += 1;
        } else {
            counts.out_of_range += 1;
            counts.note(context.place(t));
        }
    }
    clean.into()
}

/// Whether any of the values from token `first` on is zero where nothing is trained.
fn untrained_zeros(values: &[f32], context: &Context<'_>, first: usize) -> bool {
    let mask = context.mask.map(|mask| &mask[first..]);
    mask.is_some_and(|mask| {
        let n = values.len().min(mask.len());
        let (values, mask) = (&values[..n], &mask[..n]);
        simd::widest(|| simd::count(n, |t| (values[t] == 0.0) & (mask[t] != 1))) > 0
    })
}

/// Whole responses whose log-probabilities are all exactly zero.
fn constant_zero<'a>(
    column: Column,
    values: &'a [f32],
    context: &'a Context<'_>,
) -> impl Iterator<Item = usize> + 'a {
    let judged = if column.is_logprob() { context.whole.clone() } else { 0..0 };
    judged.filter(move |&i| {
        let tokens = context.offsets[i]..context.offsets[i + 1];
        is_constant_zero(&values[tokens.clone()], context.mask.map(|mask| &mask[tokens]))
    })
}

/// Whether the log-probabilities of a response, checked already, are all exactly zero: not computed,
/// rather than all sure. Tokens that are not trained on may have none.
fn is_constant_zero(values: &[f32], mask: Option<&[u8]>) -> bool {
    match mask {
        None => values.len() >= MIN_CONSTANT && values.iter().all(|v| *v == 0.0),
        Some(mask) => {
            let zero = |(v, m): (&f32, &u8)| *v == 0.0 || (*m != 1 && v.is_nan());
            values.iter().zip(mask).all(zero) && mask.iter().filter(|m| **m == 1).count() >= MIN_CONSTANT
        }
    }
}

/// Judges a response of a batch, once it is whole. `derived` says whether the new log-probability was
/// made from the old one; `asked`, whether its step is asked for.
pub fn judge_whole(
    batch: &mut TokenBatch,
    response: usize,
    derived: bool,
    asked: bool,
    quality: &mut Quality,
) {
    let tokens = batch.range(response);
    let trained = batch.mask().map(|mask| mask[tokens.clone()].to_vec());
    for column in Column::ALL.iter().copied().filter(|c| c.is_logprob()) {
        let Some(values) = batch.tokens.floats.get(column) else { continue };
        if !is_constant_zero(&values[tokens.clone()], trained.as_deref()) {
            continue;
        }
        let all = tokens.len();
        let count = trained.as_ref().map_or(all, |m| m.iter().filter(|f| **f == 1).count());
        quality.column(column).sentinel += if asked { count as u64 } else { 0 };
        let of_it = [Some(column), (derived && column == Column::Logprob).then_some(Column::LogprobNew)];
        for column in of_it.into_iter().flatten() {
            if let Some(values) = batch.tokens.floats.get_mut(column) {
                let mut clean = values.to_vec();
                clean[tokens.clone()].fill(f32::NAN);
                *values = clean.into();
            }
        }
    }
}

#[cfg(test)]
mod tests;
