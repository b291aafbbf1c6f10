//! Whether files hold curves: rows of scalars, not of responses.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::folder::curve_files;

/// What is looked at of a file.
const HEAD: u64 = 1 << 16;
/// A text that is longer is a response, not a name.
const NAME: usize = 200;
/// What rows of responses have, and rows of scalars have not.
const OF_RESPONSES: [&str; 11] = [
    "completion",
    "completions",
    "output",
    "output_response",
    "response",
    "response_text",
    "responses",
    "messages",
    "prompt",
    "text",
    "token_ids",
];

/// Whether all of these are files of curves, as far as their beginnings show.
#[must_use]
pub fn are_curves(paths: &[PathBuf]) -> bool {
    !paths.is_empty() && curve_files(paths).iter().all(|path| is_curve_file(path))
}

fn is_curve_file(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let head = || {
        let mut head = Vec::new();
        File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
        Some(head)
    };
    match ending.as_str() {
        "csv" | "tsv" | "log" | "txt" | "out" | "" => head().is_some_and(|head| !is_binary(&head)),
        "json" | "jsonl" | "ndjson" => head().is_some_and(|head| is_json_of_scalars(&head)),
        _ => false,
    }
}

fn is_binary(head: &[u8]) -> bool {
    head.contains(&0)
}

fn is_json_of_scalars(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') && text.contains("\"log_history\"") {
        return true;
    }
    let text = text.strip_prefix('[').unwrap_or(text);
    let mut rows = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match rows.next() {
        Some(Ok(Value::Object(row))) => {
            let is_scalar = |value: &Value| match value {
                Value::String(text) => text.len() <= NAME,
                Value::Array(_) => false,
                _ => true,
            };
            let numbers = row.values().filter(|value| value.is_number()).count();
            numbers > 0
                && row.iter().all(|(key, value)| {
                    is_scalar(value) && !OF_RESPONSES.contains(&key.to_ascii_lowercase().as_str())
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_json_of_scalars;

    #[test]
    fn rows_of_responses_are_no_curves() {
        let is = |text: &str| is_json_of_scalars(text.as_bytes());
        assert!(is(r#"{"global_step": 3, "log_history": [{"loss": 0.1}]}"#));
        assert!(is("[{\"step\": 1, \"reward\": 0.5},\n{\"step\": 2"));
        assert!(is("{\"train/global_step\": 1, \"reward\": \"0.125\", \"loss\": 0.0}\n"));
        assert!(!is(r#"{"step": 1, "completion": "42", "reward": 1.0}"#));
        assert!(!is(r#"{"step": 1, "logprob": [-0.1, -0.2], "reward": 1.0}"#));
        assert!(!is("{\"step\": 1"));
        assert!(!is("no json"));
    }
}
