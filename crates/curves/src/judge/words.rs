//! Numbers in sentences.

/// Two decimals below 10, one below 100, none above; three below 0.095.
#[must_use]
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 0.095 || value == 0.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// So many significant digits, without zeros at the end.
#[must_use]
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    // The exponent after rounding: 9.96 with two digits is 10.
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let digits = i32::try_from(digits).unwrap_or(i32::MAX);
    if !(-5..digits.max(6)).contains(&exponent) {
        return scientific;
    }
    let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::{short, significant};

    #[test]
    fn numbers_in_sentences_are_short() {
        let cases =
            [(123.4, "123"), (12.34, "12.3"), (0.5, "0.50"), (0.05, "0.050"), (0.0, "0.00"), (-0.3, "-0.30")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        let cases = [
            (4.86, 3, "4.86"),
            (9.96, 2, "10"),
            (0.000_12, 2, "0.00012"),
            (150.0, 2, "150"),
            (1e-9, 2, "1.0e-9"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(significant(value, digits), text);
        }
    }
}
