//! Counts of the responses of a step.

use super::Ending;
use super::response_facts::{NO_ADVANTAGE, ResponseFacts};
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;
use std::cmp::Ordering;

/// Zeros among the trained tokens of a response with an advantage, from which on they are no accident.
const SOME_ZEROS: f64 = 0.05;

/// Counts of the responses of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Accumulate)]
pub struct StepCounts {
    /// Responses.
    pub responses: u64,
    /// Of these, those with a trained token.
    pub trained: u64,
    /// Responses that are known to have been cut or not, and those that were.
    pub cut_known: u64,
    /// See `cut_known`.
    pub cut: u64,
    /// The longest responses.
    pub longest: Longest,
    /// Responses that the policy ended, and of which something is trained.
    pub finished: u64,
    /// Of these, those whose end is not trained.
    pub end_untrained: u64,
    /// Of these, those whose sampler has a value for the end.
    pub end_drawn: u64,
    /// Responses that failed and are trained with an advantage.
    pub failed: u64,
    /// Trained inner tokens.
    pub inner: u64,
    /// Of these, those that the sampler did not draw.
    pub undrawn: u64,
    /// Of these, those beside another one.
    pub undrawn_in_rows: u64,
    /// Of these, those alone after an untrained token.
    pub undrawn_at_starts: u64,
    /// Of these, those alone before an untrained token.
    pub undrawn_at_ends: u64,
    /// Responses whose first token is trained, and those of them whose sampler has no value for it.
    pub first_trained: u64,
    /// See `first_trained`.
    pub first_undrawn: u64,
    /// The same of the last token.
    pub last_trained: u64,
    /// See `last_trained`.
    pub last_undrawn: u64,
    /// Responses with an advantage that is not 0.
    pub advantaged: u64,
    /// Of these, those with 0 at some of their trained tokens.
    pub partly_zero: u64,
    /// Responses whose tokens have advantages of their own.
    pub varying: u64,
    /// Responses that are pushed up.
    pub pushed_up: u64,
    /// Responses that are pushed down.
    pub pushed_down: u64,
}

/// The length of the longest responses, and how many have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longest {
    /// Tokens.
    pub length: u32,
    /// Responses.
    pub count: u64,
}

impl Accumulate for Longest {
    fn merge(&mut self, other: Self) {
        match self.length.cmp(&other.length) {
            Ordering::Less => *self = other,
            Ordering::Equal => self.count += other.count,
            Ordering::Greater => {}
        }
    }
}

impl StepCounts {
    pub(super) fn add(&mut self, facts: &ResponseFacts, length: u32) {
        let advantage = facts.advantage;
        let value = f64::from(advantage.value);
        let is_advantaged = value.abs() > NO_ADVANTAGE;
        // Failures that have no advantage are left out, whatever the mask says.
        let teaches = facts.is_trained && (is_advantaged || value.is_nan());
        for (count, is) in [
            (&mut self.responses, true),
            (&mut self.trained, facts.is_trained),
            (&mut self.cut_known, facts.cut.is_some()),
            (&mut self.cut, facts.cut == Some(true)),
            (&mut self.finished, facts.end_trained.is_some()),
            (&mut self.end_untrained, facts.end_trained == Some(false)),
            (&mut self.end_drawn, facts.end_drawn),
            (&mut self.first_trained, facts.inner.first.is_some()),
            (&mut self.first_undrawn, facts.inner.first == Some(true)),
            (&mut self.last_trained, facts.inner.last.is_some()),
            (&mut self.last_undrawn, facts.inner.last == Some(true)),
            (&mut self.failed, facts.ending == Ending::Failed && teaches),
            (&mut self.advantaged, is_advantaged),
            (&mut self.partly_zero, is_advantaged && advantage.zeros > SOME_ZEROS),
            (&mut self.varying, advantage.varies),
            (&mut self.pushed_up, value > NO_ADVANTAGE),
            (&mut self.pushed_down, value < -NO_ADVANTAGE),
        ] {
            *count += u64::from(is);
        }
        self.longest.merge(Longest { length, count: 1 });
        self.inner += facts.inner.all;
        self.undrawn += facts.inner.undrawn;
        self.undrawn_in_rows += facts.inner.in_rows;
        self.undrawn_at_starts += facts.inner.at_starts;
        self.undrawn_at_ends += facts.inner.at_ends;
    }
}
