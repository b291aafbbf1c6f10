//! Sums of many terms of ordinary size, as integers: they do not depend on order, and an addition costs
//! a fifth of that of an [`ExactSum`].

use super::exact_sum::ExactSum;

/// A term counts in steps of 2^−40 (1e-12).
const STEPS: f64 = (1_u64 << 40) as f64;
/// Terms from here on are summed exactly: their steps would not fit into 64 bits.
const LARGE: f64 = (1_u64 << 22) as f64;

/// An order-independent sum of terms, each cut off after 2^−40.
#[derive(Clone, Debug, Default)]
pub struct FixedSum {
    steps: i128,
    large: ExactSum,
}

impl FixedSum {
    /// Adds one term.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub fn add(&mut self, term: f64) {
        if term.abs() < LARGE {
            self.steps += i128::from((term * STEPS) as i64);
        } else {
            self.large.add(term);
        }
    }

    /// The sum, as one that any others may be added to.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn exact(&self) -> ExactSum {
        let mut all = self.large;
        // Pieces of 32 bits: none is rounded.
        let size = self.steps.unsigned_abs();
        let sign = if self.steps < 0 { -1.0 } else { 1.0 };
        for piece in 0..4 {
            let bits = (size >> (32 * piece)) & u128::from(u32::MAX);
            all.add(sign * bits as f64 * 2.0_f64.powi(32 * piece - 40));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(terms: &[f64]) -> FixedSum {
        let mut sum = FixedSum::default();
        terms.iter().for_each(|term| sum.add(*term));
        sum
    }

    #[test]
    fn large_and_missing_terms_are_kept_apart() {
        let all = sum(&[1.5, -0.25, 1e300, f64::NAN]).exact();
        assert_eq!(all.irregular(), 1);
        assert_eq!(sum(&[1e20, 1.0, -1e20]).exact().value(), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_order_and_any_split_give_the_same(
            terms in prop::collection::vec(prop_oneof![-50.0..50.0, -1e9..1e9_f64], 0..60),
            cut in 0.0..1.0_f64,
        ) {
            let whole = sum(&terms).exact();
            let turned: Vec<f64> = terms.iter().rev().copied().collect();
            let (a, b) = turned.split_at((cut * terms.len() as f64) as usize);
            let mut parts = sum(a).exact();
            parts.merge(&sum(b).exact());
            prop_assert_eq!(whole.value().to_bits(), parts.value().to_bits());
            let mut exact = ExactSum::new();
            terms.iter().for_each(|term| exact.add(*term));
            prop_assert!((whole.value() - exact.value()).abs() <= terms.len() as f64 / STEPS);
        }
    }
}
