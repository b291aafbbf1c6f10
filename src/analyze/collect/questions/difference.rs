//! One difference of log-probabilities: of a response, and summed over many.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use super::kept_differences::KeptDifferences;
use crate::framework::fast_math;
use crate::simd::{LANES, Work, count, sum_in_lanes, widest};
use crate::stats::exact_sum::ExactSum;
use crate::stats::log_sum::LogSum;

/// verl clamps differences of tokens and of responses to ± this before it takes their exponential.
pub const VERL_BOUND: f64 = 20.0;
/// Above this the square of a ratio no longer fits an f64.
const LARGEST_SQUARED: f64 = 340.0;
/// Ratios are at most e to this, so that the sum of any number of them fits an f64.
const LARGEST: f64 = 600.0;
/// Differences are cut at ± this where one token must not make a mean: ratios beyond are outside of every
/// bound in use.
pub const FAR: f64 = std::f64::consts::LN_10;
/// Below this, e^d − 1 − d is taken from its series: the subtraction would leave rounding only.
const SMALL: f64 = 0.03;
/// Bands of ratios; tokens outside are counted.
pub const BANDS: [(f64, f64); 3] = [(0.9, 1.1), (0.5, 2.0), (0.2, 5.0)];

/// The differences of the tokens of one response where both values are logged.
#[derive(Clone, Debug, Default)]
pub struct TokenDifferences {
    /// d.
    pub value: Vec<f64>,
    /// e^d.
    pub ratio: Vec<f64>,
    /// e^d − 1 − d.
    pub k3: Vec<f64>,
    /// Which of the trained tokens they are of, where not of all.
    pub tokens: Option<Vec<u32>>,
}

impl TokenDifferences {
    /// Fills in `later` − `earlier`.
    pub fn fill(&mut self, later: &[f32], earlier: &[f32]) {
        let pairs = later.iter().zip(earlier);
        self.value.clear();
        self.value.extend(pairs.map(|(a, b)| f64::from(*a) - f64::from(*b)));
        self.tokens = None;
        if !self.value.iter().fold(true, |all, d| all & d.is_finite()) {
            let known = (0..self.value.len() as u32).filter(|t| self.value[*t as usize].is_finite());
            let known: Vec<u32> = known.collect();
            self.value = known.iter().map(|t| self.value[*t as usize]).collect();
            self.tokens = Some(known);
        }
        self.ratio.resize(self.value.len(), 0.0);
        self.k3.resize(self.value.len(), 0.0);
        widest(Exponentials(&self.value, &mut self.ratio, &mut self.k3));
    }

    /// Which trained token difference `i` is of.
    pub fn token(&self, i: usize) -> usize {
        self.tokens.as_ref().map_or(i, |tokens| tokens[i] as usize)
    }
}

struct Exponentials<'a>(&'a [f64], &'a mut [f64], &'a mut [f64]);

impl Work for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self(value, ratio, k3) = self;
        let n = value.len();
        let (ratio, k3) = (&mut ratio[..n], &mut k3[..n]);
        for i in 0..n {
            ratio[i] = fast_math::exp(if value[i] < LARGEST { value[i] } else { LARGEST });
        }
        for i in 0..n {
            let d = value[i];
            let series = d
                * d
                * (1.0 / 2.0
                    + d * (1.0 / 6.0
                        + d * (1.0 / 24.0 + d * (1.0 / 120.0 + d * (1.0 / 720.0 + d * (1.0 / 5040.0))))));
            k3[i] = if d.abs() < SMALL { series } else { ratio[i] - 1.0 - d };
        }
    }
}

/// What the differences of one response add up to, in the order of its tokens.
#[derive(Clone, Debug, Default)]
pub struct ResponseDifference {
    /// Tokens.
    pub tokens: u64,
    /// s = Σ d.
    pub sum: f64,
    /// Σ |d|.
    pub absolute: f64,
    square: f64,
    /// Σ (e^d − 1 − d).
    pub k3: f64,
    /// The same of d cut at ± ln 10.
    bounded_k3: f64,
    ratio: f64,
    ratio_squared: f64,
    verl_ratio_squared: f64,
    outside: [u64; 3],
    /// Largest |d|.
    pub max_abs: f64,
    /// Smallest d.
    pub min: f64,
    /// Largest e^d − 1 − d.
    pub largest_k3: f64,
}

impl ResponseDifference {
    /// Adds up.
    pub fn of(tokens: &TokenDifferences) -> Self {
        let mut all = widest(Totals(&tokens.value, &tokens.ratio, &tokens.k3));
        all.tokens = tokens.value.len() as u64;
        all.verl_ratio_squared = all.ratio_squared;
        all.bounded_k3 = all.k3;
        if all.max_abs > FAR {
            let pairs = tokens.value.iter().zip(&tokens.k3);
            all.bounded_k3 = pairs.map(|(d, k3)| if d.abs() > FAR { far_k3(*d) } else { *k3 }).sum();
        }
        if all.max_abs > VERL_BOUND {
            let clamped = tokens.value.iter().map(|d| (2.0 * d.clamp(-VERL_BOUND, VERL_BOUND)).exp());
            all.verl_ratio_squared = clamped.sum();
        }
        all
    }

    /// s/T: the logarithm of the geometric mean of the ratios.
    pub fn mean(&self) -> f64 {
        self.sum / self.tokens.max(1) as f64
    }

    /// Whether sums of plain ratios overflow.
    fn is_huge(&self) -> bool {
        self.max_abs > LARGEST_SQUARED
    }
}

/// k3 of a difference cut at ± ln 10.
pub fn far_k3(d: f64) -> f64 {
    let cut = d.clamp(-FAR, FAR);
    cut.exp() - 1.0 - cut
}

struct Totals<'a>(&'a [f64], &'a [f64], &'a [f64]);

impl Work for Totals<'_> {
    type Output = ResponseDifference;

    #[inline(always)]
    fn call(self) -> ResponseDifference {
        let Self(value, ratio, k3) = self;
        let n = value.len();
        let (ratio, k3) = (&ratio[..n], &k3[..n]);
        // A pass for each: one loop with all of them does not become wide. Nor does what `map` calls.
        let mut outside = [0; BANDS.len()];
        for (outside, (low, high)) in outside.iter_mut().zip(BANDS) {
            *outside = count(n, |i| (ratio[i] < low) | (ratio[i] > high));
        }
        let (max_abs, min) = ends(value);
        ResponseDifference {
            tokens: 0,
            sum: sum_in_lanes(n, |i| value[i]),
            absolute: sum_in_lanes(n, |i| value[i].abs()),
            square: sum_in_lanes(n, |i| value[i] * value[i]),
            k3: sum_in_lanes(n, |i| k3[i]),
            bounded_k3: 0.0,
            ratio: sum_in_lanes(n, |i| ratio[i]),
            ratio_squared: sum_in_lanes(n, |i| ratio[i] * ratio[i]),
            verl_ratio_squared: 0.0,
            outside,
            max_abs,
            min,
            largest_k3: largest(k3),
        }
    }
}

/// The largest of values that are not negative.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let mut largest = [0.0_f64; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            largest[lane] = if chunk[lane] > largest[lane] { chunk[lane] } else { largest[lane] };
        }
    }
    rest.iter().copied().chain(largest).fold(0.0, f64::max)
}

/// The largest size and the smallest value.
#[inline(always)]
fn ends(values: &[f64]) -> (f64, f64) {
    let (mut largest, mut smallest) = ([0.0_f64; LANES], [f64::INFINITY; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            let size = chunk[lane].abs();
            largest[lane] = if size > largest[lane] { size } else { largest[lane] };
            smallest[lane] = if chunk[lane] < smallest[lane] { chunk[lane] } else { smallest[lane] };
        }
    }
    let largest =
        rest.iter().fold(0.0, |most: f64, d| most.max(d.abs())).max(largest.into_iter().fold(0.0, f64::max));
    let smallest = rest.iter().copied().chain(smallest).fold(f64::INFINITY, f64::min);
    (largest, smallest)
}

/// A difference summed over responses. Parts merge in any order to the same bits.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct DifferenceTally {
    /// Tokens.
    pub tokens: u64,
    /// Responses with at least one of them.
    pub responses: u64,
    /// Σ d.
    pub sum: ExactSum,
    /// Σ |d|.
    pub absolute: ExactSum,
    /// Σ d².
    pub square: ExactSum,
    /// Σ (e^d − 1 − d).
    pub k3: LogSum,
    /// The same of d cut at ± ln 10.
    pub bounded_k3: ExactSum,
    /// Σ e^d.
    pub ratio: LogSum,
    /// Σ e^{2d}.
    pub ratio_squared: LogSum,
    /// The same of d within ±20.
    pub verl_ratio_squared: LogSum,
    /// Tokens outside each of the [`BANDS`].
    pub outside: [u64; 3],
    /// Largest |d|.
    pub max_abs: f64,
    /// Σ e^s over responses.
    pub sequence: LogSum,
    /// Σ e^{2s}.
    pub sequence_squared: LogSum,
    /// The same of s within ±20.
    pub verl_sequence_squared: LogSum,
    /// Σ e^{s/T}.
    pub geometric: LogSum,
    /// The differences themselves while they are few, else how they spread.
    pub kept: KeptDifferences,
}

impl DifferenceTally {
    /// Adds a response and, for quantiles, the differences of its tokens.
    pub fn add(&mut self, response: &ResponseDifference, tokens: &TokenDifferences, keeps: bool) {
        if response.tokens == 0 {
            return;
        }
        self.tokens += response.tokens;
        self.responses += 1;
        self.sum.add(response.sum);
        self.absolute.add(response.absolute);
        self.square.add(response.square);
        self.bounded_k3.add(response.bounded_k3);
        if response.is_huge() {
            for (d, k3) in tokens.value.iter().zip(&tokens.k3) {
                // e^d dwarfs 1 + d there.
                if *d > LARGEST_SQUARED {
                    self.k3.add_exp(*d)
                } else {
                    self.k3.add(*k3)
                }
                self.ratio.add_exp(*d);
                self.ratio_squared.add_exp(2.0 * d);
            }
        } else {
            self.k3.add(response.k3);
            self.ratio.add(response.ratio);
            self.ratio_squared.add(response.ratio_squared);
        }
        self.verl_ratio_squared.add(response.verl_ratio_squared);
        self.outside.iter_mut().zip(response.outside).for_each(|(a, b)| *a += b);
        self.max_abs = self.max_abs.max(response.max_abs);
        self.sequence.add_exp(response.sum);
        self.sequence_squared.add_exp(2.0 * response.sum);
        self.verl_sequence_squared.add_exp(2.0 * response.sum.clamp(-VERL_BOUND, VERL_BOUND));
        self.geometric.add_exp(response.mean());
        self.kept.add(&tokens.value, keeps);
    }

    /// Adds another part.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.responses += other.responses;
        self.sum.merge(&other.sum);
        self.absolute.merge(&other.absolute);
        self.square.merge(&other.square);
        self.bounded_k3.merge(&other.bounded_k3);
        self.k3.merge(&other.k3);
        self.ratio.merge(&other.ratio);
        self.ratio_squared.merge(&other.ratio_squared);
        self.verl_ratio_squared.merge(&other.verl_ratio_squared);
        self.outside.iter_mut().zip(other.outside).for_each(|(a, b)| *a += b);
        self.max_abs = self.max_abs.max(other.max_abs);
        self.sequence.merge(&other.sequence);
        self.sequence_squared.merge(&other.sequence_squared);
        self.verl_sequence_squared.merge(&other.verl_sequence_squared);
        self.geometric.merge(&other.geometric);
        self.kept.merge(&other.kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln p of −800, then of −0.1: a sum that is not a number of JSON would be read as missing.
    #[test]
    fn sums_stay_finite() {
        let mut tokens = TokenDifferences::default();
        tokens.fill(&[-0.1, -0.5, -0.1], &[-800.0, -0.5, -700.0]);
        let found = ResponseDifference::of(&tokens);
        assert!(found.k3.is_finite() && found.ratio.is_finite(), "{found:?}");
        assert!((found.sum - 1_499.8).abs() < 1e-3, "{found:?}");
    }
}
