//! Python's `json.dumps` writes `NaN`, `Infinity` and `-Infinity`, which JSON does not have.

use std::borrow::Cow;

/// Replaces the three words by `null` wherever they stand outside of texts.
pub fn to_null(json: &[u8]) -> Cow<'_, [u8]> {
    replaced(json, |out, _| out.extend_from_slice(b"null"))
}

/// Puts the three words in quotes wherever they stand outside of texts, so that they are not taken for missing values.
pub fn to_text(json: &[u8]) -> Cow<'_, [u8]> {
    replaced(json, |out, word| {
        out.push(b'"');
        out.extend_from_slice(word);
        out.push(b'"');
    })
}

fn replaced(json: &[u8], replacement: impl Fn(&mut Vec<u8>, &[u8])) -> Cow<'_, [u8]> {
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
                        replacement(&mut out, word);
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
    use super::{to_null, to_text};

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

    #[test]
    fn words_outside_of_texts_become_texts() {
        let quoted = to_text(br#"{"a":NaN,"b":-Infinity,"NaN":"NaN"}"#);
        assert_eq!(quoted.as_ref(), br#"{"a":"NaN","b":"-Infinity","NaN":"NaN"}"#);
    }
}
