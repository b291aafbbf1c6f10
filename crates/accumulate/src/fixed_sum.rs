//! Sums of bounded terms as integers: eight bytes and an addition, in any order the same.

use crate::Accumulate;
use serde::{Deserialize, Serialize};

/// A sum in units of 2^−`BITS`. Each term is rounded to the nearest unit, so add sums of a response, not tokens; the
/// total has to stay below 2^(63 − `BITS`) in size: for terms without a bound take [`ExactSum`](crate::ExactSum).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedSum<const BITS: u32>(i64);

impl<const BITS: u32> FixedSum<BITS> {
    const UNITS: f64 = (1_u64 << BITS) as f64;
    /// 1.5 · 2^52: added to a number below 2^51 it leaves the nearest integer in the low bits of the mantissa.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const SMALL: f64 = 2_251_799_813_685_248.0; // 2^51

    /// Adds a term; NaN adds nothing.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // saturates
    pub fn add(&mut self, term: f64) {
        let units = term * Self::UNITS;
        let whole = if units.abs() < Self::SMALL {
            (units + Self::ROUNDER).to_bits().wrapping_sub(Self::ROUNDER.to_bits()).cast_signed()
        } else {
            units as i64
        };
        self.0 = self.0.wrapping_add(whole);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_rounded_to_the_nearest_unit() {
        let mut sum = FixedSum::<24>::default();
        for term in [0.5, -1.25, 3e9, f64::NAN, 1e-9] {
            sum.add(term);
        }
        assert_eq!(sum.value(), 3e9 - 0.75);
        sum.add(1.4 / f64::from(1 << 24));
        assert_eq!(sum.value(), 3e9 - 0.75 + 1.0 / f64::from(1 << 24));
    }
}
