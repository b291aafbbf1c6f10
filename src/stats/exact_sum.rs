//! Sums that do not depend on order, splitting or the number of threads.
//!
//! Each term is split into a multiple of 2^−24 and a multiple of 2^−72, rounded by itself; what
//! is lost is at most 2^−73 (1e-22) a term. Multiples of one power of two add without rounding
//! as long as they fit, so partial sums may be merged in any order and give the same bits: f64
//! holds 64 pending terms exactly, i128 holds everything flushed from it. The idea is that of
//! Demmel and Nguyen, "Parallel Reproducible Summation" (2015), with fixed bins.

/// Terms beyond this size are clamped to it and counted; 2^66 ≈ 7.4e19. With it, 2^36 terms
/// cannot overflow.
pub const TERM_LIMIT: f64 = 73_786_976_294_838_206_464.0;

/// Largest term of the f64 path: 64 of them stay below 2^53 units.
const FAST_LIMIT: f64 = 8_388_608.0; // 2^23
const PENDING_LIMIT: u32 = 64;
const COARSE_UNIT: f64 = 1.0 / 16_777_216.0; // 2^-24
const FINE_UNIT: f64 = COARSE_UNIT / 281_474_976_710_656.0; // 2^-72
/// 1.5·2^52 units: adding and subtracting it rounds to a multiple of the unit.
const COARSE_ROUNDER: f64 = 6_755_399_441_055_744.0 * COARSE_UNIT;
const FINE_ROUNDER: f64 = 6_755_399_441_055_744.0 * FINE_UNIT;

/// An order-independent sum of f64 terms.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactSum {
    coarse: i128,
    fine: i128,
    pending_coarse: f64,
    pending_fine: f64,
    pending: u32,
    irregular: u64,
}

#[inline]
fn split(term: f64) -> (f64, f64) {
    let coarse = (term + COARSE_ROUNDER) - COARSE_ROUNDER;
    let rest = term - coarse;
    (coarse, (rest + FINE_ROUNDER) - FINE_ROUNDER)
}

impl ExactSum {
    /// An empty sum.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one term. NaN adds nothing, and huge terms are clamped to ±[`TERM_LIMIT`]; both are
    /// counted by [`irregular`](Self::irregular).
    #[inline]
    pub fn add(&mut self, term: f64) {
        if term.abs() <= FAST_LIMIT {
            let (coarse, fine) = split(term);
            self.pending_coarse += coarse;
            self.pending_fine += fine;
            self.pending += 1;
            if self.pending == PENDING_LIMIT {
                self.flush();
            }
        } else {
            self.add_large(term);
        }
    }

    /// Adds all terms: the same bits as adding each, several times faster.
    pub fn add_slice(&mut self, terms: &[f64]) {
        const LANES: usize = 8;
        let (blocks, rest) = terms.as_chunks::<{ PENDING_LIMIT as usize }>();
        for block in blocks {
            let mut coarse = [0.0; LANES];
            let mut fine = [0.0; LANES];
            let mut regular = true;
            for group in block.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    regular &= group[lane].abs() <= FAST_LIMIT;
                    let (c, f) = split(group[lane]);
                    coarse[lane] += c;
                    fine[lane] += f;
                }
            }
            if regular {
                self.coarse += to_units(coarse.iter().sum(), COARSE_UNIT);
                self.fine += to_units(fine.iter().sum(), FINE_UNIT);
            } else {
                block.iter().for_each(|&term| self.add(term));
            }
        }
        rest.iter().for_each(|&term| self.add(term));
    }

    /// Adds another sum's terms.
    pub fn merge(&mut self, other: &Self) {
        let (coarse, fine) = other.units();
        self.coarse += coarse;
        self.fine += fine;
        self.irregular += other.irregular;
    }

    /// The sum, rounded once per grid.
    #[must_use]
    pub fn value(&self) -> f64 {
        let (coarse, fine) = self.units();
        coarse as f64 * COARSE_UNIT + fine as f64 * FINE_UNIT
    }

    /// How many terms were NaN or clamped: where it is not 0 the value is not the sum.
    #[must_use]
    pub fn irregular(&self) -> u64 {
        self.irregular
    }

    #[cold]
    fn add_large(&mut self, term: f64) {
        if term.is_nan() {
            self.irregular += 1;
            return;
        }
        self.irregular += u64::from(term.abs() > TERM_LIMIT);
        // Above 2^23 an f64 has no bits below 2^−29, so the two grids hold it exactly.
        let term = term.clamp(-TERM_LIMIT, TERM_LIMIT);
        let coarse = (term / COARSE_UNIT).round_ties_even() * COARSE_UNIT;
        self.coarse += to_units(coarse, COARSE_UNIT);
        self.fine += to_units(term - coarse, FINE_UNIT);
    }

    fn flush(&mut self) {
        (self.coarse, self.fine) = self.units();
        self.pending_coarse = 0.0;
        self.pending_fine = 0.0;
        self.pending = 0;
    }

    fn units(&self) -> (i128, i128) {
        (
            self.coarse + to_units(self.pending_coarse, COARSE_UNIT),
            self.fine + to_units(self.pending_fine, FINE_UNIT),
        )
    }
}

/// Exact: `value` is a multiple of `unit`, a power of two.
#[inline]
#[allow(clippy::cast_possible_truncation)]
fn to_units(value: f64, unit: f64) -> i128 {
    (value / unit) as i128
}

/// Equal sums have equal bits, whatever is still pending.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.units() == other.units() && self.irregular == other.irregular
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
        let mut sum = sum_of(&[1e30, f64::NAN, f64::NEG_INFINITY, f64::INFINITY, 1.5]);
        assert_eq!(sum.irregular(), 4);
        assert_eq!(sum.value(), TERM_LIMIT + 1.5);
        sum.add_slice(&[f64::NAN; 200]);
        sum.add_slice(&[1e60; 200]);
        assert_eq!(sum.irregular(), 404);
        assert!(sum.value().is_finite());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn order_and_splits_change_nothing(
            parts in prop::collection::vec((-1.0..1.0_f64, -14..16_i32), 0..500),
            cut in 0.0..1.0_f64,
        ) {
            let mut terms: Vec<f64> = parts.iter().map(|&(m, e)| m * 10.0_f64.powi(e)).collect();
            let whole = sum_of(&terms);
            let mut sliced = ExactSum::new();
            sliced.add_slice(&terms);
            prop_assert_eq!(whole, sliced);
            let (left, right) = terms.split_at((cut * terms.len() as f64) as usize);
            let mut merged = sum_of(right);
            merged.merge(&sum_of(left));
            prop_assert_eq!(merged.value().to_bits(), whole.value().to_bits());
            terms.sort_by(f64::total_cmp);
            prop_assert_eq!(sum_of(&terms), whole);
            let naive: f64 = terms.iter().sum();
            let size: f64 = terms.iter().map(|t| t.abs()).sum();
            prop_assert!((whole.value() - naive).abs() <= 1e-12 * size + 1e-18);
        }

        #[test]
        fn energies_keep_nine_digits(exponents in prop::collection::vec(-12.0..4.0_f64, 1..300)) {
            let mut terms: Vec<f64> = exponents.iter().map(|e| 10.0_f64.powf(*e)).collect();
            terms.sort_by(f64::total_cmp);
            let naive: f64 = terms.iter().sum();
            prop_assert!((sum_of(&terms).value() / naive - 1.0).abs() < 1e-9);
        }
    }
}
