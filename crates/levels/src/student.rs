//! Student's t: quantiles, and the power of its test.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// The chance with which a difference is to be found.
pub const POWER: f64 = 0.8;
/// Level of two-sided tests, and 1 minus that of intervals.
pub const ALPHA: f64 = 0.05;

/// The quantile of Student's t; the normal one where `freedom` is infinite.
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    if freedom.is_finite() {
        StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(probability))
    } else {
        Normal::standard().inverse_cdf(probability)
    }
}

/// The two-sided p-value of t.
pub fn p_value(t: f64, freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    t.is_finite().then(|| (2.0 * student.sf(t.abs())).min(1.0))
}

/// The factors of a standard deviation at the ends of its interval, from squares with `freedom` degrees.
pub fn deviation_factors(freedom: f64) -> Option<[f64; 2]> {
    let squares = ChiSquared::new(freedom).ok()?;
    Some([1.0 - ALPHA / 2.0, ALPHA / 2.0].map(|p| (freedom / squares.inverse_cdf(p)).sqrt()))
}

/// The chance that the two-sided test finds a mean of `shift` standard errors, on its own side: that of a noncentral t
/// above the quantile. E Φ(shift − q χ/√ν) over χ of ν degrees of freedom, by Simpson's rule.
pub fn power(shift: f64, freedom: f64) -> f64 {
    const PARTS: usize = 2_000;
    const WIDTH: f64 = 9.0;
    let cut = quantile(1.0 - ALPHA / 2.0, freedom);
    // χ scatters by less than 1 about √ν, whatever ν.
    let (low, high) = ((freedom.sqrt() - WIDTH).max(0.0), freedom.sqrt() + WIDTH);
    let scale = ln_gamma(freedom / 2.0) + (freedom / 2.0 - 1.0) * std::f64::consts::LN_2;
    let normal = Normal::standard();
    let term = |part: usize| {
        let chi = low + (high - low) * part as f64 / PARTS as f64;
        let log_density =
            if freedom > 1.0 { (freedom - 1.0) * chi.ln() } else { 0.0 } - chi * chi / 2.0 - scale;
        let weight = if part == 0 || part == PARTS { 1.0 } else { 2.0 + 2.0 * (part % 2) as f64 };
        weight * log_density.exp() * normal.cdf(shift - cut * chi / freedom.sqrt())
    };
    (0..=PARTS).map(term).sum::<f64>() * (high - low) / PARTS as f64 / 3.0
}

/// The shift, in standard errors, that the test finds with [`POWER`].
pub fn detectable(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0);
    while power(high, freedom) < POWER && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if power(middle, freedom) < POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Values of SciPy's `nct.sf(t.ppf(0.975, df), df, shift)` and `chi2.ppf`.
    #[test]
    fn same_as_scipy() {
        for (shift, freedom, expected) in EXPECTED_POWER {
            assert!(
                (power(shift, freedom) - expected).abs() < 1e-8,
                "{shift} {freedom} {}",
                power(shift, freedom)
            );
        }
        let [low, high] = deviation_factors(6.0).unwrap();
        assert!(
            (low - 0.644393407932372).abs() < 1e-9 && (high - 2.2020661128215577).abs() < 1e-9,
            "{low} {high}"
        );
        assert!((quantile(0.975, 3.5) - 2.940089).abs() < 1e-3);
        assert_eq!(quantile(0.975, f64::INFINITY), Normal::standard().inverse_cdf(0.975));
    }

    #[test]
    fn what_is_detectable_is_found_as_often_as_promised() {
        for freedom in [1.0, 2.0, 4.0, 24.0, 500.0] {
            assert!((power(detectable(freedom), freedom) - POWER).abs() < 1e-9, "{freedom}");
        }
    }

    const EXPECTED_POWER: [(f64, f64, f64); 5] = [
        (0.0, 4.0, 0.025),
        (2.50, 2.0, 0.299450658910),
        (3.70, 4.0, 0.787825359660),
        (2.96, 24.0, 0.810517418412),
        (1.00, 200.0, 0.167332428250),
    ];
}
