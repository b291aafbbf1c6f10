//! One difference of log-probabilities over the tokens of a response.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use stapo_base::simd::{LANES, Work, filled_up, sums_of_lanes, widest};
pub use stapo_framework::corrections::VERL_BOUND;
use stapo_framework::fast_math;

/// Above this the square of a ratio no longer fits an f64.
pub const LARGEST_SQUARED: f64 = 340.0;
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
        self.value.resize(later.len().min(earlier.len()), 0.0);
        self.tokens = None;
        if !widest(Subtracting(later, earlier, &mut self.value)) {
            let known = (0..self.value.len() as u32).filter(|t| self.value[*t as usize].is_finite());
            let known: Vec<u32> = known.collect();
            self.value = known.iter().map(|t| self.value[*t as usize]).collect();
            self.tokens = Some(known);
        }
        self.ratio.resize(self.value.len(), 0.0);
        self.k3.resize(self.value.len(), 0.0);
        widest(Exponentials(&self.value, &mut self.ratio, &mut self.k3));
    }

    /// How many differences are of the first `tokens` trained ones.
    pub fn before(&self, tokens: usize) -> usize {
        match &self.tokens {
            None => tokens.min(self.value.len()),
            Some(known) => known.partition_point(|token| (*token as usize) < tokens),
        }
    }

    /// Which trained token difference `i` is of.
    pub fn token(&self, i: usize) -> usize {
        self.tokens.as_ref().map_or(i, |tokens| tokens[i] as usize)
    }
}

/// Fills in `later` − `earlier`; whether all are known.
struct Subtracting<'a>(&'a [f32], &'a [f32], &'a mut [f64]);

impl Work for Subtracting<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let mut unknown = 0;
        for (value, (later, earlier)) in self.2.iter_mut().zip(self.0.iter().zip(self.1)) {
            *value = f64::from(*later) - f64::from(*earlier);
            unknown |= u64::from(!value.is_finite());
        }
        unknown == 0
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
    /// Σ d².
    pub square: f64,
    /// Σ (e^d − 1 − d).
    pub k3: f64,
    /// The same of d cut at ± ln 10.
    pub bounded_k3: f64,
    /// Σ e^d.
    pub ratio: f64,
    /// Σ e^{2d}.
    pub ratio_squared: f64,
    /// The same of d within ±20.
    pub verl_ratio_squared: f64,
    /// Tokens outside each of the [`BANDS`].
    pub outside: [u64; 3],
    /// Tokens with a ratio beyond e^20.
    pub beyond: u64,
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
            all.beyond = tokens.value.iter().map(|d| u64::from(*d > VERL_BOUND)).sum();
        }
        all
    }

    /// s/T: the logarithm of the geometric mean of the ratios.
    pub fn mean(&self) -> f64 {
        self.sum / self.tokens.max(1) as f64
    }

    /// Whether sums of plain ratios overflow.
    pub fn is_huge(&self) -> bool {
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
        let parts = [self.0, self.1, self.2].map(|column| column.as_chunks::<LANES>());
        let [(value, value_rest), (ratio, ratio_rest), (k3, k3_rest)] = parts;
        let mut all = TotalLanes::default();
        for ((value, ratio), k3) in value.iter().zip(ratio).zip(k3) {
            all.add(value, ratio, k3);
            all.widen(value);
        }
        let mut beyond = 0;
        if let Some(last) = value_rest.last() {
            // What fills a chunk up adds nothing, but for ratios of 0, which are outside of all bands.
            beyond = (LANES - value_rest.len()) as u64;
            all.add(&filled_up(value_rest, 0.0), &filled_up(ratio_rest, 0.0), &filled_up(k3_rest, 0.0));
            all.widen(&filled_up(value_rest, *last));
        }
        all.total(beyond)
    }
}

/// Sums of chunks of tokens side by side.
struct TotalLanes {
    /// Σ d, |d|, d², k3, e^d, e^{2d}.
    sums: [[f64; LANES]; 6],
    outside: [[f64; LANES]; BANDS.len()],
    largest_k3: [f64; LANES],
    max_abs: [f64; LANES],
    min: [f64; LANES],
}

impl Default for TotalLanes {
    fn default() -> Self {
        let zero = [0.0; LANES];
        Self {
            sums: [zero; 6],
            outside: [zero; BANDS.len()],
            largest_k3: zero,
            max_abs: zero,
            min: [f64::INFINITY; LANES],
        }
    }
}

impl TotalLanes {
    #[inline(always)]
    fn add(&mut self, value: &[f64; LANES], ratio: &[f64; LANES], k3: &[f64; LANES]) {
        let [sum, absolute, square, all_k3, all_ratio, ratio_squared] = &mut self.sums;
        for lane in 0..LANES {
            sum[lane] += value[lane];
            absolute[lane] += value[lane].abs();
            square[lane] += value[lane] * value[lane];
            all_k3[lane] += k3[lane];
            all_ratio[lane] += ratio[lane];
            ratio_squared[lane] += ratio[lane] * ratio[lane];
        }
        for (outside, (low, high)) in self.outside.iter_mut().zip(BANDS) {
            for lane in 0..LANES {
                let is = (ratio[lane] < low) | (ratio[lane] > high);
                outside[lane] += if is { 1.0 } else { 0.0 };
            }
        }
        for lane in 0..LANES {
            let largest = self.largest_k3[lane];
            self.largest_k3[lane] = if k3[lane] > largest { k3[lane] } else { largest };
        }
    }

    #[inline(always)]
    fn widen(&mut self, value: &[f64; LANES]) {
        for lane in 0..LANES {
            let (size, max_abs, min) = (value[lane].abs(), self.max_abs[lane], self.min[lane]);
            self.max_abs[lane] = if size > max_abs { size } else { max_abs };
            self.min[lane] = if value[lane] < min { value[lane] } else { min };
        }
    }

    /// The sums of all lanes, `beyond` of whose ratios are none.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn total(self, beyond: u64) -> ResponseDifference {
        let [sum, absolute, square, k3, ratio, ratio_squared] = sums_of_lanes(&self.sums);
        ResponseDifference {
            tokens: 0,
            sum,
            absolute,
            square,
            k3,
            bounded_k3: 0.0,
            ratio,
            ratio_squared,
            verl_ratio_squared: 0.0,
            outside: sums_of_lanes(&self.outside).map(|outside| outside as u64 - beyond),
            beyond: 0,
            max_abs: self.max_abs.into_iter().fold(0.0, f64::max),
            min: self.min.into_iter().fold(f64::INFINITY, f64::min),
            largest_k3: self.largest_k3.into_iter().fold(0.0, f64::max),
        }
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
        assert_eq!(found.beyond, 2);
    }
}
