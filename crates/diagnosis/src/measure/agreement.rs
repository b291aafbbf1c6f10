//! How well the trainer agrees with itself: where two of its numbers are of one forward pass they are equal.
//!
//! The first update of a step has the weights that π_old was computed with; siblings have one prompt, so their first
//! tokens have one policy. Each response counts once: its tokens share one dropout mask, one packing, one batch.

use stapo_evidence::policies::{Policies, Scatter};

/// A floor that rounding does not reach: packed and padded batches differ by some hundredths.
const FLOOR: f64 = 0.1;
/// Equal.
const EQUAL: f64 = 0.01;
/// Degrees of freedom that the comparison of equal first tokens has to have.
const ENOUGH: u64 = 8;

/// Root mean squares of differences that should be 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// H at the first token, between siblings.
    pub entropy: Option<f64>,
    /// ln π_old of the same first token, between siblings.
    pub logprob: Option<f64>,
    /// ln π_θ − ln π_old in the first update, of the median response.
    pub update_zero: Option<f64>,
}

impl Agreement {
    pub(super) fn of(policies: &Policies) -> Self {
        let (mut entropy, mut logprob) = (Pooled::default(), Pooled::default());
        for siblings in policies.siblings.values().filter(|siblings| siblings.share_a_prompt()) {
            entropy.add(&siblings.entropy);
            siblings.logprob.values().for_each(|scatter| logprob.add(scatter));
        }
        let mut moves: Vec<f64> = policies.update_zero.values().filter_map(|rms| rms.0).collect();
        moves.sort_by(f64::total_cmp);
        let update_zero = match moves.len() {
            0 => None,
            n => Some(f64::midpoint(moves[(n - 1) / 2], moves[n / 2])),
        };
        Self { entropy: entropy.deviation(1), logprob: logprob.deviation(ENOUGH), update_zero }
    }

    /// Whether two looks at one token differ: the trainer's own noise.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let siblings = self.entropy.is_some_and(|h| h > FLOOR) && self.logprob.is_some_and(|p| p > FLOOR);
        siblings || self.update_zero.is_some_and(|e| e > FLOOR)
    }

    /// Whether entropies differ where log-probabilities agree: they are of other rows.
    #[must_use]
    pub fn entropy_is_foreign(&self) -> bool {
        !self.is_broken()
            && self.entropy.is_some_and(|h| h > FLOOR)
            && self.logprob.is_some_and(|p| p < EQUAL)
    }
}

#[derive(Default)]
struct Pooled {
    squares: f64,
    freedom: u64,
}

impl Pooled {
    fn add(&mut self, scatter: &Scatter) {
        if scatter.count > 1 {
            self.squares += scatter.deviation();
            self.freedom += scatter.count - 1;
        }
    }

    fn deviation(&self, enough: u64) -> Option<f64> {
        (self.freedom >= enough).then(|| (self.squares / self.freedom as f64).sqrt())
    }
}
