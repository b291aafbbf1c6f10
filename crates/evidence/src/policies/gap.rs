//! The gap d = ln π_old − ln μ of trained tokens.

use super::Sum;
use super::token_loops::{CUT, at, clip};
use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;
use std::ops::Range;

/// Sums of the gap over tokens.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct GapSums {
    /// Tokens with both values.
    pub tokens: u64,
    /// Σd.
    pub sum: Sum,
    /// Σd².
    pub squares: Sum,
    /// Σd² of tokens with d > 0.
    pub positive: Sum,
    /// Σ of d times the next token's.
    pub neighbours: Sum,
}

impl GapSums {
    pub(super) fn add(&mut self, part: &Part) {
        self.tokens += part.tokens;
        self.sum.add(part.sum);
        self.squares.add(part.squares);
        self.positive.add(part.positive);
        self.neighbours.add(part.neighbours);
    }

    /// Root mean square of d; 0 where there is no token.
    #[must_use]
    pub fn rms(&self) -> f64 {
        (self.squares.value() / self.tokens.max(1) as f64).max(0.0).sqrt()
    }

    /// Mean of d; 0 where there is no token.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum.value() / self.tokens.max(1) as f64
    }
}

/// The same of a part of one response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    pub tokens: u64,
    pub sum: f64,
    pub squares: f64,
    pub positive: f64,
    pub neighbours: f64,
    /// d of the part's last token, for the neighbour.
    last: f64,
}

impl Part {
    fn join(&mut self, next: &Self) {
        self.tokens += next.tokens;
        self.sum += next.sum;
        self.squares += next.squares;
        self.positive += next.positive;
        self.neighbours += next.neighbours;
    }
}

/// Where the parts of a response end: its first token, the next two, up to the twentieth, the rest.
const ENDS: [usize; 4] = [1, 3, 20, usize::MAX];

/// The gap of one response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gap {
    /// By position.
    pub parts: [Part; ENDS.len()],
    /// Against s = ln p + H, the surprise that the entropy did not announce: Σds and Σs².
    pub with_support: f64,
    pub support: f64,
    /// Σ of −s and of H, and their tokens.
    pub surprisal: f64,
    pub entropy: f64,
    pub with_entropy: u64,
    /// Σ|ln μ − ln π_ref| and its tokens.
    pub to_reference: f64,
    pub with_reference: u64,
}

impl Gap {
    pub fn of(response: &Response<'_>, rollout: &[f32]) -> Self {
        let mut gap = Self::default();
        let (mut begin, mut last) = (0, 0.0);
        for (i, end) in ENDS.into_iter().enumerate() {
            let end = end.min(response.len());
            let mut part = Part { last, ..Part::default() };
            gap.sweep(response, rollout, begin..end, &mut part);
            last = part.last;
            gap.parts[i] = part;
            begin = end;
        }
        gap
    }

    #[inline]
    fn sweep(&mut self, response: &Response<'_>, rollout: &[f32], tokens: Range<usize>, part: &mut Part) {
        for t in tokens {
            let (p, mu) = (f64::from(response.logprob[t]), f64::from(rollout[t]));
            if !(response.is_trained(t) && p.is_finite() && mu.is_finite()) {
                part.last = 0.0;
                continue;
            }
            let d = clip(p - mu, CUT);
            part.tokens += 1;
            part.sum += d;
            part.squares += d * d;
            part.positive += if d > 0.0 { d * d } else { 0.0 };
            part.neighbours += d * part.last;
            part.last = d;
            let h = at(response.entropy, t);
            if h.is_finite() {
                let support = clip(p + h, CUT);
                self.with_support += d * support;
                self.support += support * support;
                self.surprisal -= p + h;
                self.entropy += h;
                self.with_entropy += 1;
            }
            let to_reference = mu - at(response.reference, t);
            if to_reference.is_finite() {
                self.to_reference += to_reference.abs().min(CUT);
                self.with_reference += 1;
            }
        }
    }

    pub fn tokens(&self) -> u64 {
        self.parts.iter().map(|part| part.tokens).sum()
    }

    pub fn all(&self) -> Part {
        let mut all = Part::default();
        self.parts.iter().for_each(|part| all.join(part));
        all
    }
}
