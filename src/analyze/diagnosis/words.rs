//! Numbers in messages.

/// Below this a number is what rounding leaves of 0.
const ROUNDING: f64 = 1e-12;

/// A share in percent, for messages.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.005 => "less than 0.01 %".into(),
        p if p > 0.0 && p < 1.0 => format!("{p:.2} %"),
        p if p < 10.0 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// A measured number, for messages: with so many decimals, unless it is beyond what can be read, or would
/// be written as 0 and is not.
pub fn measured(value: f64, decimals: usize) -> String {
    let smallest = 0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
    match value.abs() {
        size if size > ROUNDING && size < smallest => format!("{value:.1e}"),
        size if size < 1e6 => format!("{value:.decimals$}"),
        size if size.is_finite() => format!("{value:.1e}"),
        _ => "∞".into(),
    }
}
