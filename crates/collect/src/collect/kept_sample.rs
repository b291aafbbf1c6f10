//! What a part of the run kept one by one, with what decides how much of it is kept.

use serde::{Deserialize, Serialize};

use super::pieces::{PieceIndex, Pieces};
use super::sample::{SampleBuffer, SampleGate, SampleLimits, Sampled, largest_hash};

/// What a part of the run knows of a gate: hashes by leading zeros, exact from its level on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    counts: Vec<u64>,
    level: u32,
    limits: SampleLimits,
}

impl Census {
    /// What a gate counted.
    pub fn of(gate: &SampleGate) -> Self {
        let mut census = Self { counts: gate.counts(), level: gate.level(), limits: gate.limits };
        census.raise();
        census
    }

    /// Adds the counts of another part; the level that both together need.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.level = self.level.max(other.level);
        self.raise();
    }

    fn raise(&mut self) {
        let above = |level: u32| self.counts.iter().skip(level as usize).sum::<u64>();
        while self.level < 32 && above(self.level) > self.limits.at(self.level) {
            self.level += 1;
        }
        // Below it, how many were seen depends on when the level rose.
        self.counts.iter_mut().take(self.level as usize).for_each(|count| *count = 0);
    }

    /// The level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Whether it counts up to the limit of `gate`.
    pub fn fits(&self, gate: &SampleGate) -> bool {
        self.limits == gate.limits && self.level <= 32 && self.counts.len() == gate.counts().len()
    }
}

/// What a part of the run kept.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptSample<T> {
    /// In an order of their own, and in one piece, after [`KeptSample::settle`].
    pub tokens: Pieces<T>,
    /// What decides how many are kept.
    pub census: Census,
}

impl<T: Sampled> KeptSample<T> {
    /// What all workers kept.
    pub fn gather(buffers: impl IntoIterator<Item = SampleBuffer<T>>, gate: &SampleGate) -> Self {
        let mut tokens = Pieces::default();
        for mut buffer in buffers {
            buffer.drop_below(gate.level());
            tokens.append(buffer.into_pieces());
        }
        Self { tokens, census: Census::of(gate) }
    }

    /// Adds what another part kept.
    pub fn merge(&mut self, mut other: Self) {
        let before = self.census.level();
        self.census.merge(&other.census);
        let cut = largest_hash(self.census.level());
        if self.census.level() > before {
            self.tokens.retain(|token| token.hash() <= cut);
        }
        if self.census.level() > other.census.level() {
            other.tokens.retain(|token| token.hash() <= cut);
        }
        self.tokens.append(other.tokens);
    }

    /// Puts them into the order of their content. Their indices are sorted, not the tokens: these are large, and each
    /// moves once.
    pub fn settle(&mut self) {
        let tokens = &mut self.tokens;
        let mut order: Vec<(T::Leading, PieceIndex)> = Vec::with_capacity(tokens.len());
        order.extend(tokens.indexed().map(|(index, token)| (token.leading(), index)));
        order.sort_unstable_by(|(a, i), (b, j)| a.cmp(b).then_with(|| tokens.at(*i).order(tokens.at(*j))));
        let settled: Vec<T> = order.into_iter().map(|(_, index)| tokens.take(index)).collect();
        *tokens = settled.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sample::SampledToken;

    #[test]
    fn tokens_that_differ_in_anything_are_in_one_order() {
        let token = |ratio: f32, advantage: f32, norm: f32| SampledToken {
            hash: 7,
            batch: 0,
            token_id: 1,
            logprob: -1.0,
            entropy: 0.5,
            advantage,
            ratio,
            response_ratio: 1.0,
            norm_low: norm,
            norm,
            norm_high: norm,
            unclipped_norm: norm,
            change_low: 0.0,
            change_high: 0.0,
            measured_change: f32::NAN,
            direction: 0,
            moves: true,
        };
        let mut tokens: Vec<SampledToken> =
            (0..60_u8).map(|i| token(1.0 + f32::from(i % 3), f32::from(i % 5), f32::from(i / 15))).collect();
        let merged = |tokens: &[SampledToken]| {
            let gate = SampleGate::new(1_000);
            let mut buffers = [SampleBuffer::default(), SampleBuffer::default()];
            tokens.iter().enumerate().for_each(|(i, token)| buffers[i % 2].push(*token));
            let mut kept = KeptSample::gather(buffers, &gate);
            kept.settle();
            kept.tokens.iter().map(|t| format!("{t:?}")).collect::<Vec<_>>()
        };
        let first = merged(&tokens);
        tokens.reverse();
        tokens.swap(3, 40);
        assert_eq!(first, merged(&tokens));
    }
}
