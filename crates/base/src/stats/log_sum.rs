//! Sums of exponentials of any size that do not depend on order, splitting or the number of threads.
//!
//! Terms are gathered in buckets of `WIDTH` nats and scaled to the bucket's lower end, where they
//! are added exactly ([`ExactSum`]). Buckets more than `DEPTH` below the highest cannot change the
//! sum (e^−96 of it is below 1e-41) and are dropped, so memory is bounded and e^{±800} is no matter.

use std::sync::LazyLock;

use super::exact_sum::ExactSum;

/// Nats of one bucket.
const WIDTH: f64 = 8.0;
/// Buckets below the highest that are kept.
const DEPTH: i32 = 12;
/// Exponents beyond this count as this.
const LARGEST: f64 = 1e9;

/// An order-independent sum of non-negative terms given by their logarithms.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LogSum {
    /// Ascending.
    buckets: Vec<(i32, ExactSum)>,
}

impl LogSum {
    /// Adds e^x. NaN and −∞ add nothing.
    pub fn add_exp(&mut self, x: f64) {
        self.add_power(Power::of(x));
    }

    /// Adds a power that may be added to several sums.
    pub fn add_power(&mut self, power: Power) {
        if let Some((bucket, value)) = power.0 {
            self.add_scaled(bucket, value);
        }
    }

    /// Adds a number; what is not above 1e-300 adds nothing.
    pub fn add(&mut self, value: f64) {
        if value >= LEAST && value.is_finite() {
            let edges = &*EDGES;
            // Most numbers are of the size of others: their bucket need not be found.
            for (bucket, sum) in self.buckets.iter_mut().rev() {
                if let Some(scale) = edges.scale_in(*bucket, value) {
                    return sum.add(value * scale);
                }
            }
            let (bucket, scale) = edges.bucket(value);
            self.add_scaled(bucket, value * scale);
        } else if value == f64::INFINITY {
            self.add_exp(LARGEST);
        }
    }

    fn add_scaled(&mut self, bucket: i32, value: f64) {
        // Most terms are of the size of the last ones.
        match self.buckets.iter_mut().rev().find(|(known, _)| *known == bucket) {
            Some((_, sum)) => sum.add(value),
            None => {
                let mut one = ExactSum::new();
                one.add(value);
                self.add_bucket(bucket, &one);
            }
        }
    }

    fn add_bucket(&mut self, bucket: i32, sum: &ExactSum) {
        let highest = self.buckets.last().map_or(bucket, |(highest, _)| *highest);
        if bucket < highest.saturating_sub(DEPTH) {
            return;
        }
        match self.buckets.binary_search_by_key(&bucket, |(b, _)| *b) {
            Ok(at) => self.buckets[at].1.merge(sum),
            Err(at) => self.buckets.insert(at, (bucket, *sum)),
        }
        if bucket > highest {
            self.buckets.retain(|(b, _)| *b >= bucket.saturating_sub(DEPTH));
        }
    }

    /// Adds another sum's terms.
    pub fn merge(&mut self, other: &Self) {
        other.buckets.iter().for_each(|(bucket, sum)| self.add_bucket(*bucket, sum));
    }

    /// The logarithm of the sum; −∞ of nothing.
    #[must_use]
    pub fn ln(&self) -> f64 {
        let Some((highest, _)) = self.buckets.last() else { return f64::NEG_INFINITY };
        let scaled =
            |(bucket, sum): &(i32, ExactSum)| sum.value() * (f64::from(*bucket - *highest) * WIDTH).exp();
        self.buckets.iter().map(scaled).sum::<f64>().ln() + f64::from(*highest) * WIDTH
    }

    /// The sum; infinite where an f64 cannot hold it.
    #[must_use]
    pub fn value(&self) -> f64 {
        match &self.buckets[..] {
            // As it was added: no rounding by logarithms.
            [(0, only)] => only.value(),
            [] => 0.0,
            buckets => buckets.iter().map(|(b, sum)| sum.value() * (f64::from(*b) * WIDTH).exp()).sum(),
        }
    }
}

/// e to a power: bucket, and the number in its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power(Option<(i32, f64)>);

impl Power {
    /// e^x; nothing of NaN and −∞.
    #[must_use]
    pub fn of(x: f64) -> Self {
        Self((x > f64::NEG_INFINITY).then(|| {
            let x = x.clamp(-LARGEST, LARGEST);
            let bucket = bucket_of(x);
            (bucket, (x - f64::from(bucket) * WIDTH).exp())
        }))
    }
}

/// Numbers below this add nothing: their bucket's scale would not fit an f64.
const LEAST: f64 = 1e-300;
/// Buckets of numbers from [`LEAST`] on: ln 1e-300 is −690.8, the largest ln 709.8.
const FIRST: i32 = -87;
const BUCKETS: usize = 177;

/// Where buckets begin and what their numbers are scaled by: looked up instead of a logarithm and an
/// exponential for every number (a fifth of the cost).
struct Edges {
    low: [f64; BUCKETS],
    scale: [f64; BUCKETS],
}

static EDGES: LazyLock<Edges> = LazyLock::new(|| {
    let nats = |at: usize| f64::from(FIRST + at as i32) * WIDTH;
    Edges {
        low: std::array::from_fn(|at| nats(at).exp()),
        scale: std::array::from_fn(|at| (-nats(at)).exp()),
    }
});

impl Edges {
    /// The scale of a bucket, where the number is in it.
    #[inline]
    fn scale_in(&self, bucket: i32, value: f64) -> Option<f64> {
        let at = usize::try_from(bucket.checked_sub(FIRST)?).ok()?;
        let (low, next) = (*self.low.get(at)?, self.low.get(at + 1).copied().unwrap_or(f64::INFINITY));
        (value >= low && value < next).then(|| self.scale[at])
    }

    /// The bucket of a number from [`LEAST`] on, and its scale.
    #[allow(clippy::cast_possible_truncation)]
    fn bucket(&self, value: f64) -> (i32, f64) {
        // 2^exponent is at most a factor of two below, so this bucket is its own or the one before.
        let exponent = (value.to_bits() >> 52) as i32 - 1023;
        let guess = bucket_of(f64::from(exponent) * std::f64::consts::LN_2).max(FIRST);
        let at = (guess - FIRST) as usize;
        let at = at + usize::from(self.low.get(at + 1).is_some_and(|next| value >= *next));
        (FIRST + at as i32, self.scale[at])
    }
}

#[allow(clippy::cast_possible_truncation)]
fn bucket_of(x: f64) -> i32 {
    (x / WIDTH).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn huge_exponents_do_not_overflow() {
        let mut sum = LogSum::default();
        sum.add_exp(800.0);
        sum.add_exp(-800.0);
        sum.add_exp(800.0);
        assert!((sum.ln() - 800.0 - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(sum.value(), f64::INFINITY);
        assert_eq!(LogSum::default().ln(), f64::NEG_INFINITY);
        [f64::NAN, 0.0, -1.0, f64::MIN_POSITIVE, f64::MAX].into_iter().for_each(|value| sum.add(value));
        sum.add_exp(f64::NAN);
        assert!(sum.ln().is_finite());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn order_and_splits_change_nothing(
            mut terms in prop::collection::vec(-900.0..900.0_f64, 1..200),
            near in prop::collection::vec(-5.0..5.0_f64, 1..100),
            cut in 0.0..1.0_f64,
        ) {
            let of = |terms: &[f64]| {
                let mut sum = LogSum::default();
                terms.iter().for_each(|x| sum.add_exp(*x));
                sum
            };
            for terms in [&mut terms, &mut near.clone()] {
                let whole = of(terms);
                let (left, right) = terms.split_at((cut * terms.len() as f64) as usize);
                let mut merged = of(right);
                merged.merge(&of(left));
                prop_assert_eq!(merged.ln().to_bits(), whole.ln().to_bits());
                terms.sort_by(f64::total_cmp);
                prop_assert_eq!(of(terms).ln().to_bits(), whole.ln().to_bits());
                let highest = terms[terms.len() - 1];
                let naive = terms.iter().map(|x| (x - highest).exp()).sum::<f64>().ln() + highest;
                prop_assert!((whole.ln() - naive).abs() < 1e-9);
            }
        }

        #[test]
        fn buckets_hold_their_numbers(x in -690.0..709.0_f64) {
            let value = x.exp();
            let (bucket, scale) = EDGES.bucket(value);
            prop_assert!((bucket - bucket_of(x)).abs() <= 1);
            prop_assert_eq!(EDGES.scale_in(bucket, value), Some(scale));
            prop_assert_eq!((EDGES.scale_in(bucket - 1, value), EDGES.scale_in(bucket + 1, value)), (None, None));
            let scaled = value * scale;
            prop_assert!(scaled > 1.0 - 1e-12 && scaled < WIDTH.exp() * (1.0 + 1e-12), "{value} {scaled}");
        }

        #[test]
        fn plain_numbers_add_up(terms in prop::collection::vec(1e-9..1e9_f64, 1..100)) {
            let mut sum = LogSum::default();
            terms.iter().for_each(|v| sum.add(*v));
            let naive: f64 = terms.iter().sum();
            prop_assert!((sum.value() / naive - 1.0).abs() < 1e-13);
        }
    }
}
