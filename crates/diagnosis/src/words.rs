//! Numbers and ids in messages.

use stapo_base::format::is_invisible;

/// Characters of an id in a sentence.
const LONGEST_ID: usize = 40;
/// Bytes of an id in a command: hashes of 512 bits.
const LONGEST_WORD: usize = 128;

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

/// An id as a sentence can hold it.
pub fn short(id: &str) -> String {
    match id.char_indices().nth(LONGEST_ID) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.to_owned(),
    }
}

/// An id as a shell takes it for one word, whatever a log holds; `None` where a reader could not copy it.
pub fn shell_word(id: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
    let can_be_copied = id.len() <= LONGEST_WORD && !id.chars().any(is_invisible);
    match id.chars().all(is_plain) {
        _ if !can_be_copied => None,
        true => Some(id.to_owned()),
        false => Some(format!("'{}'", id.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_not_shown_as_it_is_gives_no_command() {
        assert_eq!(shell_word("a-1:2").as_deref(), Some("a-1:2"));
        assert_eq!(shell_word("it's").as_deref(), Some(r"'it'\''s'"));
        for hidden in ["a\nb", "\u{1b}[31m", "\u{202e}rev", "a\u{200b}b"] {
            assert_eq!(shell_word(hidden), None, "{hidden:?}");
        }
    }

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
