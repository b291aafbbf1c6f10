//! Sums that do not depend on order, splitting or the number of threads, at any scale.
//!
//! The exponents of f64 are cut into fixed bands of 64 bits. A term is a whole number of at most
//! 117 bits over its own band, so it splits without rounding into that band and the next; each band
//! is an integer of 128 bits, which 2^63 terms cannot overflow. Kept are the highest band that any
//! term reached and the two below it: what falls under them is below 2^−116 of the largest term.
//! Which bands are kept depends on the largest term alone, and what a term adds to a band on that
//! term alone, so parts may be merged in any order and give the same bits. The idea is that of
//! Demmel and Nguyen, "Parallel Reproducible Summation" (2015), with integers for bins.

const BAND_BITS: u32 = 6;
const KEPT: usize = 3;
/// The exponent of the lowest bit of an f64.
const LOWEST_BIT: i32 = -1074;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// An order-independent sum of f64 terms.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
pub struct ExactSum {
    /// Bands `top`, `top` − 1, `top` − 2.
    bands: [i128; KEPT],
    /// The highest band that a term may reach into; 0 where there is none yet.
    top: u32,
    irregular: u32,
}

impl ExactSum {
    /// An empty sum.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one term. NaN and infinities add nothing and are counted by
    /// [`irregular`](Self::irregular).
    #[inline]
    pub fn add(&mut self, term: f64) {
        let bits = term.to_bits();
        let exponent = (bits >> 52) as u32 & 0x7ff;
        if exponent == 0x7ff {
            self.irregular = self.irregular.saturating_add(1);
            return;
        }
        let fraction = bits & 0x000f_ffff_ffff_ffff;
        // The place of the lowest bit of the mantissa; subnormal numbers share the lowest.
        let (mantissa, place) =
            if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let wide = i128::from(mantissa) << (place & 63);
        let (low, high) = (wide & i128::from(u64::MAX), wide >> 64);
        let (low, high) = if term < 0.0 { (-low, -high) } else { (low, high) };
        let band = (place >> BAND_BITS) + 1;
        if band > self.top {
            if mantissa == 0 {
                return;
            }
            self.raise(band);
        }
        // `band` holds the high part, the one below it the low part. By index, since terms near the edge
        // of a band take turns, and a branch on that is guessed wrong half of the time.
        let below = (self.top - band) as usize;
        if below < KEPT {
            self.bands[below] += high;
            if below + 1 < KEPT {
                self.bands[below + 1] += low;
            }
        }
    }

    /// Adds another sum's terms.
    pub fn merge(&mut self, other: &Self) {
        self.irregular = self.irregular.saturating_add(other.irregular);
        self.raise(other.top);
        let below = (self.top - other.top) as usize;
        for (into, from) in self.bands.iter_mut().skip(below).zip(other.bands) {
            *into += from;
        }
    }

    /// The sum, rounded to an f64 within a unit of its last place.
    #[must_use]
    pub fn value(&self) -> f64 {
        let (mut high, mut middle, mut low) = self.carried();
        let negative = high < 0;
        if negative {
            // The digits of the sum's size, so that nothing cancels below.
            let carry;
            (low, carry) = (!low).overflowing_add(1);
            let (sum, carry) = (!middle).overflowing_add(u64::from(carry));
            middle = sum;
            high = !high + i128::from(carry);
        }
        let size = (high as f64 * TWO_TO_64 + middle as f64) * TWO_TO_64 + low as f64;
        let exponent = LOWEST_BIT + 64 * (self.top.cast_signed() - (KEPT as i32 - 1));
        // In two halves, since neither 2^exponent nor `size` alone may leave the range.
        let size = size * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
        if negative { -size } else { size }
    }

    /// How many terms were NaN or infinite: where it is not 0 the value is not the sum.
    #[must_use]
    pub fn irregular(&self) -> u64 {
        self.irregular.into()
    }

    /// Makes `top` the highest band at least; what falls out below is dropped.
    #[inline]
    fn raise(&mut self, top: u32) {
        if top > self.top {
            let by = (top - self.top) as usize;
            let old = std::mem::replace(&mut self.bands, [0; KEPT]);
            for (into, from) in self.bands.iter_mut().skip(by).zip(old) {
                *into = from;
            }
            self.top = top;
        }
    }

    /// The bands as digits of 64 bits, the highest with the sign.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn carried(&self) -> (i128, u64, u64) {
        let [high, middle, low] = self.bands;
        let middle = middle + (low >> 64);
        (high + (middle >> 64), middle as u64, low as u64)
    }
}

#[allow(clippy::cast_sign_loss)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Sums of the same terms have the same digits, however they were put together.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        (self.top, self.carried(), self.irregular) == (other.top, other.carried(), other.irregular)
    }
}

impl Extend<f64> for ExactSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, terms: I) {
        terms.into_iter().for_each(|term| self.add(term));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(terms: &[f64]) -> ExactSum {
        let mut sum = ExactSum::new();
        sum.extend(terms.iter().copied());
        sum
    }

    #[test]
    fn small_terms_survive_beside_large_ones() {
        let mut sum = ExactSum::new();
        sum.add(1e18);
        (0..1_000).for_each(|_| sum.add(1e-12));
        sum.add(-1e18);
        assert!((sum.value() / 1e-9 - 1.0).abs() < 1e-9);
        assert_eq!(sum.irregular(), 0);
    }

    #[test]
    fn hostile_terms_are_counted_and_do_not_panic() {
        let sum = sum_of(&[f64::NAN, f64::NEG_INFINITY, f64::INFINITY, 1.5, f64::MIN_POSITIVE, 5e-324]);
        assert_eq!((sum.irregular(), sum.value()), (3, 1.5));
        assert_eq!(sum_of(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
        assert_eq!(sum_of(&[f64::MAX, 1.0, -f64::MAX]).value(), 0.0, "1 is below 2^-116 of the largest");
        assert_eq!(sum_of(&[5e-324, 5e-324]).value(), 1e-323);
        assert_eq!(sum_of(&[0.0, -0.0]), ExactSum::new());
        assert_eq!((ExactSum::new().value(), sum_of(&[-2.5]).value()), (0.0, -2.5));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn order_and_splits_change_nothing(
            parts in prop::collection::vec((-1.0..1.0_f64, -14..16_i32), 0..500),
            scale in prop_oneof![Just(0), -280..280_i32],
            cut in 0.0..1.0_f64,
        ) {
            let mut terms: Vec<f64> = parts.iter().map(|&(m, e)| m * 10.0_f64.powi(e + scale)).collect();
            let whole = sum_of(&terms);
            let (left, right) = terms.split_at((cut * terms.len() as f64) as usize);
            let mut merged = sum_of(right);
            merged.merge(&sum_of(left));
            prop_assert_eq!(merged, whole);
            prop_assert_eq!(merged.value().to_bits(), whole.value().to_bits());
            terms.sort_by(f64::total_cmp);
            prop_assert_eq!(sum_of(&terms), whole);
            let naive: f64 = terms.iter().sum();
            let size: f64 = terms.iter().map(|t| t.abs()).sum();
            prop_assert!((whole.value() - naive).abs() <= 1e-12 * size);
        }

        /// Terms whose exponents lie all over the range push the kept bands up and down.
        #[test]
        fn terms_of_any_exponents_merge_in_any_order(
            mut parts in prop::collection::vec((-1.0..1.0_f64, -300..300_i32), 0..60),
        ) {
            let term = |&(m, e): &(f64, i32)| m * 10.0_f64.powi(e);
            let whole = sum_of(&parts.iter().map(term).collect::<Vec<_>>());
            parts.reverse();
            let mut merged = ExactSum::new();
            parts.chunks(7).for_each(|part| merged.merge(&sum_of(&part.iter().map(term).collect::<Vec<_>>())));
            prop_assert_eq!(merged, whole);
        }

        #[test]
        fn energies_keep_their_digits(exponents in prop::collection::vec(-12.0..4.0_f64, 1..300), scale in -60..60_i32) {
            let mut terms: Vec<f64> = exponents.iter().map(|e| 10.0_f64.powf(*e) * 10.0_f64.powi(scale)).collect();
            terms.sort_by(f64::total_cmp);
            let naive: f64 = terms.iter().sum();
            prop_assert!((sum_of(&terms).value() / naive - 1.0).abs() < 1e-13);
        }
    }
}
