//! How numbers are written, the same everywhere.

/// A whole number in groups of three: `612,395`.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 token`, `12 tokens`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// Bytes: `820 kB`, `1.3 GB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    let (unit, size) = match count {
        0..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        _ => ("GB", 1e9),
    };
    let value = count as f64 / size;
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A time: `8 s`, `4 min`, `2 h 10 min`.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return none();
    }
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        _ if seconds < 90.0 => format!("{} s", seconds.max(1.0).round()),
        0..120 => format!("{minutes} min"),
        _ if minutes < 48 * 60 => format!("{} h {} min", minutes / 60, minutes % 60),
        _ => format!("{} days", (minutes as f64 / 1440.0).round()),
    }
}

/// A count that may be an estimate: whole where it is whole.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn amount(value: f64) -> String {
    if !value.is_finite() {
        return none();
    }
    if value.fract().abs() < 1e-9 || value >= 100.0 { grouped(value.round() as u64) } else { number(value) }
}

/// Three significant digits: `0.239`, `12.4`, `1,230`, `3.10·10⁻⁶`.
#[must_use]
pub fn number(value: f64) -> String {
    significant(value, 3)
}

/// So many decimals, and a minus sign instead of a hyphen: `−0.4120`.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}").replace('-', "−") } else { none() }
}

/// `0.027 %`, `4.8 %`, `62 %`: two significant digits below 10 %, at least.
#[must_use]
pub fn percent(share: f64) -> String {
    // Without the sign of a zero.
    let value = share * 100.0 + 0.0;
    if !value.is_finite() {
        none()
    } else if value >= 99.95 || value == 0.0 {
        format!("{value:.0} %")
    } else {
        format!("{} %", significant(value, if value.abs() >= 10.0 { 3 } else { 2 }))
    }
}

/// So many decimals of a percentage, or [`percent`] where these would be zeros: `0.0274 %`.
#[must_use]
pub fn fixed_percent(share: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$} %", 100.0 * share + 0.0);
    if text.bytes().any(|b| (b'1'..=b'9').contains(&b)) { text } else { percent(share) }
}

/// [`percent`], or a dash.
#[must_use]
pub fn percent_or_dash(share: Option<f64>) -> String {
    share.map_or_else(none, percent)
}

/// [`number`], or a dash.
#[must_use]
pub fn number_or_dash(value: Option<f64>) -> String {
    value.map_or_else(none, number)
}

/// `4.6×`.
#[must_use]
pub fn times(ratio: f64) -> String {
    format!("{}×", significant(ratio, 2))
}

/// Whether a character has no shape, or moves or hides others.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(u32::from(c), 0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0E | 0xFEFF
            | 0xFFA0 | 0xFFF0..=0xFFFB | 0xFFFE | 0xFFFF | 0xE000..=0xF8FF | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A | 0xE0000..=0x10FFFF)
}

/// The name of a code or column in a sentence: `large_updates` is “large updates”.
#[must_use]
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Names that a sentence has room for.
const NAMED: usize = 4;

/// Names in a sentence: `a, b`; of many, how many there are: `13 others`.
#[must_use]
pub fn few_names(names: &[&str]) -> String {
    if names.len() > NAMED { format!("{} others", names.len()) } else { names.join(", ") }
}

/// A token whose text is not known.
#[must_use]
pub fn token_of_id(id: impl std::fmt::Display) -> String {
    format!("⟨{id}⟩")
}

/// What is written where there is no value.
#[must_use]
pub fn none() -> String {
    "–".into()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return none();
    }
    if value == 0.0 {
        return "0".into();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    // Rounding first, so that 0.09996 is written as 0.100 and not as 0.1000.
    let size = format!("{:.*e}", (digits - 1).max(0) as usize, value.abs());
    let (mantissa, exponent) = size.split_once('e').unwrap_or((&size, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let magnitude = value.abs();
    if (-4..=8).contains(&exponent) {
        let decimals = (digits - 1 - exponent).max(0) as usize;
        if exponent >= 3 {
            return format!("{sign}{}", grouped(magnitude.round() as u64));
        }
        return format!("{sign}{magnitude:.decimals$}");
    }
    format!("{sign}{mantissa}·{}", power_of_ten(exponent))
}

/// `10⁻⁴`; 1 and 10 as they are.
#[must_use]
pub fn power_of_ten(exponent: i32) -> String {
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => {
            let digits = exponent.to_string();
            let raised = digits.chars().map(|c| match c {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                '4' => '⁴',
                '5' => '⁵',
                '6' => '⁶',
                '7' => '⁷',
                '8' => '⁸',
                '9' => '⁹',
                _ => '⁰',
            });
            format!("10{}", raised.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(123), "123");
    }

    #[test]
    fn numbers_are_short_and_honest() {
        assert_eq!(grouped(612_395), "612,395");
        assert_eq!(grouped(0), "0");
        assert_eq!(number(0.239_41), "0.239");
        assert_eq!(number(-12.44), "−12.4");
        assert_eq!(number(1234.5), "1,235");
        assert_eq!(number(0.099_96), "0.100");
        assert_eq!(number(3.1e-6), "3.10·10⁻⁶");
        assert_eq!(number(f64::NAN), "–");
        assert_eq!(fixed(-0.412, 4), "−0.4120");
        assert_eq!(fixed(f64::NAN, 4), "–");
        assert_eq!(percent(0.000_274), "0.027 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.617), "61.7 %");
        assert_eq!([-0.314, -0.0314, 0.314].map(percent), ["−31.4 %", "−3.1 %", "31.4 %"]);
        assert_eq!(percent(1.23e-8), "1.2·10⁻⁶ %");
        assert_eq!(times(4.63), "4.6×");
        assert_eq!(amount(12.5), "12.5");
        assert_eq!(amount(1e6), "1,000,000");
    }

    #[test]
    fn many_names_are_counted() {
        assert_eq!(few_names(&["a", "b"]), "a, b");
        assert_eq!(few_names(&["a"; 13]), "13 others");
    }

    #[test]
    fn sizes_and_times_have_their_unit() {
        assert_eq!([512, 1_340_000, 24_000_000_000].map(bytes), ["0.5 kB", "1.3 MB", "24 GB"]);
        assert_eq!(
            [0.2, 42.0, 240.0, 7_800.0, 4e5].map(duration),
            ["1 s", "42 s", "4 min", "2 h 10 min", "5 days"]
        );
    }
}
