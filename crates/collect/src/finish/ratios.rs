//! Quotients that may have nothing below the line.

/// `part / whole`; `None` where the whole is 0.
pub fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// `sum / count`; `None` where there is nothing.
pub fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
