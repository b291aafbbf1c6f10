//! Numbers and ids in messages.

/// Characters of an id in a sentence.
const LONGEST_ID: usize = 40;

/// Below this a number is what rounding leaves of 0.
const ROUNDING: f64 = 1e-12;

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

/// An id as a sentence can hold it.
pub fn short(id: &str) -> String {
    match id.char_indices().nth(LONGEST_ID) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_can_be_read() {
        assert_eq!(measured(0.0314, 3), "0.031");
        assert_eq!(measured(1129.4, 0), "1129");
        assert_eq!(measured(0.0038, 2), "3.8e-3");
        assert_eq!(measured(0.0, 2), "0.00");
        assert_eq!(measured(1.79e40, 3), "1.8e40");
        assert_eq!(measured(f64::INFINITY, 3), "∞");
    }
}
