//! Sums of terms that are not negative and may be of any size, the same bits in any order.
//!
//! The whole mantissas of terms of one binary exponent are added as integers, so nothing is rounded
//! until the value is asked for: terms of 1e-120 and of 1e120 fit side by side.

use std::collections::BTreeMap;

const MANTISSA_BITS: u32 = 52;
const MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;

/// An order-independent sum of terms of any size.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WideSum(BTreeMap<u16, u128>);

impl WideSum {
    /// Adds a term; one that is negative, zero or not finite adds nothing.
    pub fn add(&mut self, term: f64) {
        if !(term > 0.0 && term.is_finite()) {
            return;
        }
        let bits = term.to_bits();
        let exponent = (bits >> MANTISSA_BITS) as u16;
        let hidden = u64::from(exponent > 0) << MANTISSA_BITS;
        *self.0.entry(exponent.max(1)).or_default() += u128::from((bits & MANTISSA) | hidden);
    }

    /// Adds the terms of another sum.
    pub fn merge(&mut self, other: &Self) {
        for (exponent, mantissas) in &other.0 {
            *self.0.entry(*exponent).or_default() += mantissas;
        }
    }

    /// The sum; infinite where it is beyond what a double holds.
    #[must_use]
    pub fn value(&self) -> f64 {
        let part = |(exponent, mantissas): (&u16, &u128)| {
            let unit = f64::from_bits(u64::from(*exponent) << MANTISSA_BITS);
            (*mantissas as f64 / (1_u64 << MANTISSA_BITS) as f64) * unit
        };
        // An empty sum would be a negative zero.
        self.0.iter().map(part).sum::<f64>() + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(terms: &[f64]) -> WideSum {
        let mut sum = WideSum::default();
        terms.iter().for_each(|term| sum.add(*term));
        sum
    }

    #[test]
    fn nothing_adds_up_to_zero() {
        assert!(WideSum::default().value().is_sign_positive());
    }

    #[test]
    fn terms_of_any_size_count() {
        for scale in [1e-150, 1e-60, 1.0, 1e60, 1e150] {
            let sum = sum_of(&[3.0 * scale, 0.25 * scale, 0.0, -1.0, f64::NAN, f64::INFINITY]);
            assert!((sum.value() / scale - 3.25).abs() < 1e-14, "{scale}");
        }
        assert_eq!(sum_of(&[]).value(), 0.0);
        assert_eq!(sum_of(&[f64::MIN_POSITIVE / 4.0; 4]).value(), f64::MIN_POSITIVE);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn order_and_splits_change_nothing(
            parts in prop::collection::vec((0.0..1.0_f64, -120..120_i32), 1..200),
            cut in 0.0..1.0_f64,
        ) {
            let mut terms: Vec<f64> = parts.iter().map(|(m, e)| m * 10.0_f64.powi(*e)).collect();
            let whole = sum_of(&terms);
            let (left, right) = terms.split_at((cut * terms.len() as f64) as usize);
            let mut merged = sum_of(right);
            merged.merge(&sum_of(left));
            prop_assert_eq!(&merged, &whole);
            terms.sort_by(f64::total_cmp);
            prop_assert_eq!(sum_of(&terms), whole.clone());
            let naive: f64 = terms.iter().sum();
            prop_assert!((whole.value() - naive).abs() <= 1e-12 * naive);
        }
    }
}
