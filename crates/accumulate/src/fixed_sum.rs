//! Sums of bounded terms as integers: eight bytes and an addition, in any order the same.

use crate::Accumulate;
use serde::{Deserialize, Serialize};

/// A sum in units of 2^−`BITS`. Each term is rounded to the nearest unit, so add sums of a response, not tokens; the
/// total has to stay below 2^(63 − `BITS`) in size: for terms without a bound take [`ExactSum`](crate::ExactSum).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedSum<const BITS: u32>(i64);

impl<const BITS: u32> FixedSum<BITS> {
    const UNITS: f64 = (1_u64 << BITS) as f64;

    /// Adds a term; NaN adds nothing.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // saturates
    pub fn add(&mut self, term: f64) {
        self.0 = self.0.wrapping_add((term * Self::UNITS).round() as i64);
    }

    /// The sum.
    #[inline]
    #[must_use]
    pub fn value(self) -> f64 {
        self.0 as f64 / Self::UNITS
    }
}

impl<const BITS: u32> Accumulate for FixedSum<BITS> {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}
