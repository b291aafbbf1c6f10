//! Gradient energy as whole multiples of a unit, so that histograms add up in any order.

/// The unit of energy in histograms.
pub const ENERGY_UNIT: f64 = 1.0 / UNITS;
const UNITS: f64 = 16_777_216.0; // 2^24
/// A token's energy in histograms is at most this.
const LARGEST: f64 = 134_217_728.0; // 2^27: below 2^52 units
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;

/// Energy in units, rounded to the nearest; `energy` must not be negative or NaN.
#[inline(always)]
pub fn to_units(energy: f64) -> u64 {
    let capped = if energy < LARGEST { energy } else { LARGEST };
    (capped * UNITS + TWO_TO_52).to_bits() & 0x000f_ffff_ffff_ffff
}

/// Sign of an advantage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// A > 0.
    Positive,
    /// A < 0.
    Negative,
    /// A = 0.
    Zero,
}

impl Sign {
    /// All signs.
    pub const ALL: [Self; 3] = [Self::Positive, Self::Negative, Self::Zero];

    /// The sign of `advantage`, which must not be NaN.
    #[inline(always)]
    pub fn of(advantage: f32) -> Self {
        if advantage > 0.0 {
            Self::Positive
        } else if advantage < 0.0 {
            Self::Negative
        } else {
            Self::Zero
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_are_rounded_to_units() {
        assert_eq!(to_units(0.0), 0);
        assert_eq!(to_units(1.0), 1 << 24);
        assert_eq!(to_units(2.6 * ENERGY_UNIT), 3);
        assert_eq!(to_units(1e300), 1 << 51);
    }
}
