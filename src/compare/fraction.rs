//! A part over a whole: what every metric is, so that groups and steps can be resampled.

/// A part over a whole.
pub type Fraction = [f64; 2];

/// The value of a fraction; `None` where there is nothing.
#[must_use]
pub fn value([part, whole]: Fraction) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
