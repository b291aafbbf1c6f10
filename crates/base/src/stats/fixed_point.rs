//! Numbers as whole multiples of a unit: their sums do not depend on order, and cost an addition.

/// Units of 1.
pub const UNITS: f64 = 1_099_511_627_776.0; // 2^40
/// Numbers below this are below 2^50 units, and rounded to the nearest.
pub const SMALL: f64 = 1_024.0;
/// Adding it rounds a number below 2^51 to an integer kept in its low mantissa bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// Units of a number of a size below [`SMALL`]; meaningless of others.
#[inline(always)]
#[must_use]
pub fn small_to_fixed(value: f64) -> i64 {
    (value * UNITS + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_the_nearest() {
        for value in [0.0, 0.5, -0.5, 22.18, 1_023.999, -1e-9] {
            assert!((small_to_fixed(value) as f64 / UNITS - value).abs() <= 0.5 / UNITS);
        }
    }
}
