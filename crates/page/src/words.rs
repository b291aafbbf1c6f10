//! Numbers as they are read, the same everywhere.

use stapo_base::format::grouped;

/// So many significant digits, without a power: `0.88`, `12`.
#[must_use]
pub fn sig(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "–".into() };
    }
    // Rounded first, so that 9.97 is 10.0 and not 9.97 with a digit more than it has.
    let places = |v: f64| usize::try_from(digits - 1 - floor(v.abs().log10())).unwrap_or(0);
    let decimals = places(value).min(12);
    let rounded = format!("{value:.decimals$}");
    let again = rounded.parse::<f64>().map_or(decimals, places).min(decimals);
    format!("{value:.again$}").replace('-', "−")
}

#[allow(clippy::cast_possible_truncation)]
fn floor(v: f64) -> i32 {
    v.floor().clamp(-400.0, 400.0) as i32
}

/// A reward: two decimals, more where these would be zeros.
#[must_use]
pub fn reward(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.01 { sig(value, 2) } else { trim(value, 2) }
}

/// The end of a range: `1.2`, `1`, `0`.
#[must_use]
pub fn limit(value: f64) -> String {
    let text = trim(value, 2);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.into()
}

fn trim(value: f64, decimals: usize) -> String {
    format!("{:.decimals$}", value + 0.0).replace('-', "−")
}

/// A typical ratio: `1.09×`, `2.2×`, `31×`.
#[must_use]
pub fn times(ratio: f64) -> String {
    let decimals = if ratio < 1.295 { 2 } else { usize::from(ratio < 9.95) };
    format!("{ratio:.decimals$}×")
}

/// `0.3 %`, `12 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if !percent.is_finite() {
        return "–".into();
    }
    let text = if percent.abs() >= 9.95 || percent.abs() < 5e-3 && percent.abs() < 5e-5 {
        format!("{percent:.0} %")
    } else if percent.abs() >= 0.095 {
        format!("{percent:.1} %")
    } else {
        format!("{} %", sig(percent, 1))
    };
    text.replace('-', "−")
}

/// A probability: as a share where it is readable, else `1 in 188 billion`.
#[must_use]
pub fn chance(probability: f64) -> String {
    if probability >= 1e-3 {
        return percent(probability);
    }
    if probability < 1e-13 {
        return "next to none".into();
    }
    let n = 1.0 / probability;
    let (unit, word) = [(1e12, " trillion"), (1e9, " billion"), (1e6, " million")]
        .into_iter()
        .find(|(unit, _)| n >= *unit)
        .unwrap_or((1.0, ""));
    format!("1 in {}{word}", count(n / unit))
}

/// A number of things: `12`, `1,230`; an estimate is rounded.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn count(value: f64) -> String {
    if value.is_finite() { grouped(value.max(0.0).round() as u64) } else { "–".into() }
}

/// The first letter as a capital.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// With a full stop.
#[must_use]
pub fn stopped(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.into() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_not_counted() {
        assert_eq!(
            [sig(0.8812, 2), sig(9.97, 2), sig(123.0, 2), sig(-0.00123, 2), sig(0.0, 2)],
            ["0.88", "10", "123", "−0.0012", "0"]
        );
        assert_eq!([times(1.0), times(1.28), times(2.24), times(31.4)], ["1.00×", "1.28×", "2.2×", "31×"]);
        assert_eq!(
            [percent(0.123), percent(0.0123), percent(0.00012), percent(0.0)],
            ["12 %", "1.2 %", "0.01 %", "0 %"]
        );
        assert_eq!(
            [chance(0.84), chance(1.0 / 6769.0), chance(1.0 / 1.88e11)],
            ["84 %", "1 in 6,769", "1 in 188 billion"]
        );
        assert_eq!(
            [limit(1.2), limit(1.0), limit(0.0), limit(100.0), reward(0.111), reward(0.0)],
            ["1.2", "1", "0", "100", "0.11", "0.00"]
        );
    }
}
