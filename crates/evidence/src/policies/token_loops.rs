//! Bits of the loops over tokens.

use crate::Response;

/// Differences of log-probabilities are cut there: beyond a ratio of 150 a token says no more than that it differs.
pub const CUT: f64 = 5.0;

/// `x` within ±`bound`; NaN stays.
#[inline]
pub fn clip(x: f64, bound: f64) -> f64 {
    x.clamp(-bound, bound)
}

/// Values of a column that has one a token, else NaN.
#[inline]
pub fn at(column: Option<&[f32]>, t: usize) -> f64 {
    column.map_or(f64::NAN, |values| f64::from(values[t]))
}

/// The tokens that are trained on.
#[inline]
pub fn trained<'a>(response: &'a Response<'_>) -> impl Iterator<Item = usize> + 'a {
    (0..response.len()).filter(|t| response.is_trained(*t))
}

/// e^x − 1 − x for |x| ≤ 2.31 to 1e-8 of its value, without the cancellation of the formula: the series to x^17.
#[inline]
pub fn k3(x: f64) -> f64 {
    const TERMS: usize = 16;
    const COEFFICIENTS: [f64; TERMS] = {
        let mut coefficients = [0.5; TERMS];
        let mut i = 1;
        while i < TERMS {
            coefficients[i] = coefficients[i - 1] / (i as f64 + 2.0);
            i += 1;
        }
        coefficients
    };
    COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient) * x * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_is_k3() {
        for x in [-2.3, -1.0, -0.1, 0.4, 1.7, 2.3_f64] {
            let formula = x.exp_m1() - x;
            assert!((k3(x) / formula - 1.0).abs() < 1e-8, "{x}");
        }
        assert!((k3(1e-6) / 5e-13 - 1.0).abs() < 1e-6);
    }
}
