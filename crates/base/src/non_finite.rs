//! Python's `json.dumps` writes `NaN`, `Infinity` and `-Infinity`, which JSON does not have.

use std::borrow::Cow;

/// Replaces the three words by `null` wherever they stand outside of texts.
pub fn to_null(json: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = end_of_text(json, at + 1),
            b'N' | b'I' | b'-' => {
                let rest = &json[at..];
                let word = [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().find(|w| rest.starts_with(w));
                match word {
                    Some(word) => {
                        out.extend_from_slice(&json[copied..at]);
                        out.extend_from_slice(b"null");
                        at += word.len();
                        copied = at;
                    }
                    None => at += 1,
                }
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json[copied..]);
    Cow::Owned(out)
}

/// The place behind the closing quote of a text that begins at `at`.
fn end_of_text(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::to_null;

    #[test]
    fn words_outside_of_texts_become_null() {
        let cases: [(&str, &str); 6] = [
            (r#"[NaN, -Infinity,Infinity]"#, r#"[null, null,null]"#),
            (r#"{"NaN":NaN}"#, r#"{"NaN":null}"#),
            (r#"["a\"NaN", -1.5]"#, r#"["a\"NaN", -1.5]"#),
            (r#"["\\",NaN]"#, r#"["\\",null]"#),
            (r#"["cut NaN"#, r#"["cut NaN"#),
            ("", ""),
        ];
        for (input, expected) in cases {
            assert_eq!(to_null(input.as_bytes()).as_ref(), expected.as_bytes(), "{input}");
        }
    }
}
