//! Numbers as whole multiples of a unit: their sums do not depend on order, and cost an addition.

use super::exact_sum::ExactSum;

/// Units of 1.
pub const UNITS: f64 = 1_099_511_627_776.0; // 2^40
/// Numbers below this are below 2^50 units, and rounded to the nearest.
pub const SMALL: f64 = 1_024.0;
/// Adding it rounds a number below 2^51 to an integer kept in its low mantissa bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
/// Bits of the lower part of a sum that is taken apart.
const LOW_BITS: u32 = 48;

/// Units of a number of a size below [`SMALL`]; meaningless of others.
#[inline(always)]
#[must_use]
pub fn small_to_fixed(value: f64) -> i64 {
    (value * UNITS + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()).cast_signed()
}

/// Adds units to a sum, all of their bits: at most 2^100 of them.
#[allow(clippy::cast_precision_loss)]
pub fn add_units(sum: &mut ExactSum, units: i128) {
    let high = units >> LOW_BITS;
    let low = units - (high << LOW_BITS);
    sum.add(high as f64 * (1_u64 << LOW_BITS) as f64 / UNITS);
    sum.add(low as f64 / UNITS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_whole_and_none_is_lost() {
        for value in [0.0, 0.5, -0.5, 22.18, 1_023.999, -1e-9] {
            assert!((small_to_fixed(value) as f64 / UNITS - value).abs() <= 0.5 / UNITS);
        }
        for units in [0, 1, -1, (1 << 48) - 1, 1 << 48, (1 << 90) + 12_345, -(1 << 90) - 12_345_i128] {
            let mut sum = ExactSum::new();
            add_units(&mut sum, units);
            add_units(&mut sum, -units + 3);
            assert_eq!(sum.value(), 3.0 / UNITS);
        }
    }
}
