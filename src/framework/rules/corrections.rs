//! Corrections of the gap between sampler and trainer: weights of one token, or of one response,
//! from a ratio of their policies.
//!
//! With r = π_old/μ of a token (μ is the sampler, `logprob_rollout`) and s = Σ ln r of a response:
//! tis takes min(r, C); icepop takes r inside of its bounds and 0 outside; the masks take 1 inside
//! and 0 outside, of r, of eˢ, or of the geometric mean. Bounds of the geometric mask are on μ/π_old,
//! e^(−s/T), as verl has them.

/// Cap of `tis`.
pub const TIS_CAP: f64 = 2.0;
/// Bounds of `icepop`.
pub const ICEPOP_BOUNDS: (f64, f64) = (0.5, 5.0);
/// Bounds of the masks by token and by response.
pub const MIS_BOUNDS: (f64, f64) = (0.5, 2.0);
/// Bounds of the mask by the geometric mean of a response.
pub const GEOMETRIC_MIS_BOUNDS: (f64, f64) = (0.999, 1.001);
/// Cap of ρ in `ratio_cap`, whatever the sign of A.
pub const RATIO_CAP: f64 = 3.0;

/// min(r, cap).
#[must_use]
pub fn tis_weight(ratio: f64, cap: f64) -> f64 {
    ratio.min(cap)
}

/// r inside of the bounds, else 0.
#[must_use]
pub fn icepop_weight(ratio: f64, bounds: (f64, f64)) -> f64 {
    if is_inside(ratio, bounds) { ratio } else { 0.0 }
}

/// Whether a ratio is inside of bounds, ends included.
#[must_use]
pub fn is_inside(ratio: f64, (low, high): (f64, f64)) -> bool {
    low <= ratio && ratio <= high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_the_inside() {
        assert_eq!([1.9, 2.0, 2.1].map(|r| tis_weight(r, TIS_CAP)), [1.9, 2.0, 2.0]);
        assert_eq!([0.49, 0.5, 5.0, 5.1].map(|r| icepop_weight(r, ICEPOP_BOUNDS)), [0.0, 0.5, 5.0, 0.0]);
        assert_eq!([0.49, 0.5, 2.0, 2.1].map(|r| is_inside(r, MIS_BOUNDS)), [false, true, true, false]);
        // A ratio that is not a number is never trained on.
        assert!(!is_inside(f64::NAN, MIS_BOUNDS));
        assert_eq!(icepop_weight(f64::NAN, ICEPOP_BOUNDS), 0.0);
    }
}
