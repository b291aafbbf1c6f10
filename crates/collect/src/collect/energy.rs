//! Gradient energy as whole multiples of a unit, so that tables add up in any order.
//!
//! The unit follows the largest energy of a block of tokens, in bands of sixteen powers of two: it is
//! between 2^−51 and 2^−35 of that energy, whatever the scale of the norms is. A block is cut the
//! same way in every layout and order of files, so its unit is a fact of the log.

/// Powers of two that share a unit, as a power of two.
const BAND_BITS: u32 = 4;
/// Puts an edge at 2^6: energies of a normalised advantage then share one band.
const SHIFT: i32 = 10;
/// Energies below 2^−920 share the lowest band.
const LEAST_EXPONENT: i32 = -920;
/// Energies of a band are at most 2^51 units.
const MOST_UNITS: i32 = 51;
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;

/// Energies that share a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Band(i32);

impl Band {
    /// The band of a block with this largest energy, which must not be negative or NaN; `None`
    /// without energy.
    #[inline]
    pub fn of(largest: f64) -> Option<Self> {
        let exponent = (largest.to_bits() >> 52) as i32 - 1023;
        (largest > 0.0).then(|| Self((exponent.max(LEAST_EXPONENT) + SHIFT) >> BAND_BITS))
    }

    /// Units of an energy of 1.
    #[inline]
    pub fn units(self) -> f64 {
        power_of_two(-self.unit_exponent())
    }

    /// The energy of a unit.
    #[inline]
    pub fn unit(self) -> f64 {
        power_of_two(self.unit_exponent())
    }

    fn unit_exponent(self) -> i32 {
        ((self.0 + 1) << BAND_BITS) - SHIFT - MOST_UNITS
    }
}

#[inline]
#[allow(clippy::cast_sign_loss)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Energy in units, rounded to the nearest; `energy` is not above what `units` were chosen for.
#[inline(always)]
pub fn to_units(energy: f64, units: f64) -> u64 {
    (energy * units + TWO_TO_52).to_bits() & 0x000f_ffff_ffff_ffff
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_largest_energy() {
        assert_eq!(Band::of(0.0), None);
        assert_eq!(Band::of(63.9), Band::of(0.001));
        assert!(Band::of(64.0) > Band::of(63.9));
        for exponent in -90..90 {
            let largest = 1.9 * 10_f64.powi(exponent);
            let band = Band::of(largest).unwrap();
            assert!(to_units(largest, band.units()) <= 1 << 51, "{largest}");
            assert!(to_units(largest, band.units()) >= 1 << 34, "{largest}");
            let part = largest / 1024.0;
            let found = to_units(part, band.units()) as f64 * band.unit();
            assert!((found / part - 1.0).abs() < 1e-7, "{part} {found}");
        }
        for extreme in [5e-324, f64::MIN_POSITIVE, f64::MAX] {
            let band = Band::of(extreme).unwrap();
            assert!(band.unit() > 0.0 && band.units() > 0.0 && band.unit().is_finite());
            assert!(to_units(extreme, band.units()) <= 1 << 51);
        }
        assert_eq!(to_units(f64::INFINITY, Band::of(f64::INFINITY).unwrap().units()), 0);
    }
}
