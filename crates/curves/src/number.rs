//! A number as trainers print it: `0.125`, `'0.125'`, `np.float64(0.0)`, `tensor(0.5, device='cuda:0')`, `12 %`.

/// The number; NaN where the text is none.
#[must_use]
pub(crate) fn number(text: &str) -> f64 {
    let text = text.trim();
    if let Ok(value) = text.parse() {
        return value;
    }
    let text = text.trim_end_matches('%').trim_end();
    let inner = match text.split_once('(') {
        Some((kind, inner)) if is_wrapper(kind) => {
            let inner = inner.trim_end_matches(')');
            inner.split_once(',').map_or(inner, |(first, _)| first)
        }
        _ => text,
    };
    inner.trim().trim_matches(['\'', '"']).parse().unwrap_or(f64::NAN)
}

fn is_wrapper(kind: &str) -> bool {
    let kind = kind.trim_start();
    kind == "tensor" || kind.starts_with("np.") || kind.starts_with("numpy.")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        let cases = [
            ("0.125", 0.125),
            (" -1e-3 ", -1e-3),
            ("'0.5'", 0.5),
            ("np.float64(0.25)", 0.25),
            ("tensor(0.5, device='cuda:0')", 0.5),
            ("12 %", 12.0),
            ("-inf", f64::NEG_INFINITY),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text).to_bits(), f64::to_bits(expected), "{text}");
        }
        for text in ["", "nan", "1,234", "later", "f(3)", "(", "tensor("] {
            assert!(number(text).is_nan(), "{text}");
        }
    }
}
