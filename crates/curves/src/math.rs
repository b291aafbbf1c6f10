//! Means, medians and quantiles of a few numbers.

/// The arithmetic mean; NaN of nothing.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The quantile with straight lines between order statistics; NaN of nothing.
#[must_use]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// The median; NaN of nothing.
#[must_use]
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let half = values.len() / 2;
    if values.is_empty() {
        return f64::NAN;
    }
    let even = values.len().is_multiple_of(2);
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let middle = *middle;
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if even => (lower + middle) / 2.0,
        _ => middle,
    }
}

/// Distinct values, ascending.
#[must_use]
pub(crate) fn unique(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Greatest minus least; 0 of nothing.
#[must_use]
pub(crate) fn extent(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { greatest(values) - least(values) }
}

/// The greatest value.
#[must_use]
pub(crate) fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The least value.
#[must_use]
pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
