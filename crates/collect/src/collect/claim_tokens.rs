//! Tokens that the paper's claims are held against: all of a small run, blocks drawn by their hash of a large one.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::sample::Sampled;
use stapo_batch::batch::Id;

/// ‖g‖/|w| of a token, which depends on the policy alone: neither on its advantage nor on clipping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitNorm {
    /// Its value; NaN where nothing tells it. Norms of neighbours in p differ by less than an f32 tells apart.
    pub value: f64,
    /// Whether it is from a logged Σ π² or norm. Else it is an estimate from p and H, and what is said of p and H cannot
    /// be checked with it.
    pub known: bool,
}

/// A token as the claims need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimToken {
    /// Hash of its block: blocks are drawn as a whole, so that the many that are not cost one hash.
    pub hash: u32,
    /// Where it is: see [`LogOrder`].
    pub order: u64,
    /// ln p.
    pub logprob: f32,
    /// H.
    pub entropy: f32,
    /// A.
    pub advantage: f32,
    /// ‖g‖/|w|.
    pub norm: UnitNorm,
}

impl Sampled for ClaimToken {
    type Leading = u64;

    fn hash(&self) -> u32 {
        self.hash
    }

    fn leading(&self) -> u64 {
        self.order
    }

    fn order(&self, other: &Self) -> Ordering {
        let content = |token: &Self| {
            let numbers = [token.logprob, token.entropy, token.advantage];
            let norm = (token.norm.value.to_bits(), token.norm.known);
            (token.order, numbers.map(f32::to_bits), norm, token.hash)
        };
        content(self).cmp(&content(other))
    }
}

/// The order of tokens in a log that is written step by step: of step, group, response and position. It decides between
/// tokens of one p alone. Of large numbers it knows the low bits: another order then, but one for any order of files.
#[derive(Clone, Copy, Debug)]
pub struct LogOrder(u64);

impl LogOrder {
    const GROUP_BITS: u32 = 20;
    const SAMPLE_BITS: u32 = 12;
    const POSITION_BITS: u32 = 16;

    /// Of the tokens of a response.
    pub fn of(step: i64, group: &Id, sample: &Id) -> Self {
        let start = step.cast_unsigned() << Self::GROUP_BITS | low_bits(number(group), Self::GROUP_BITS);
        Self(start << Self::SAMPLE_BITS | low_bits(number(sample), Self::SAMPLE_BITS))
    }

    /// Of its token `t`.
    #[inline]
    pub fn token(self, t: usize) -> u64 {
        self.0 << Self::POSITION_BITS | low_bits(t as u64, Self::POSITION_BITS)
    }
}

fn low_bits(number: u64, bits: u32) -> u64 {
    number & ((1 << bits) - 1)
}

/// A number for an id; texts of one beginning share one.
fn number(id: &Id) -> u64 {
    match id {
        Id::Missing => 0,
        Id::Int(value) => value.cast_unsigned(),
        Id::Text(text) => text.bytes().fold(0, |all: u64, byte| all << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_in_the_order_of_the_log() {
        let at = |step, group, sample, t| LogOrder::of(step, &Id::Int(group), &Id::Int(sample)).token(t);
        let log = [at(0, 3, 0, 5), at(0, 3, 0, 6), at(0, 3, 1, 0), at(0, 4, 0, 0), at(1, 0, 0, 0)];
        assert!(log.is_sorted_by(|a, b| a < b));
        assert_eq!(at(0, 1 << 20, 1 << 12, 1 << 16), 0, "what does not fit is left out");
    }
}
