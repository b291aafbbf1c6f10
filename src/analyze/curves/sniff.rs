//! Whether files hold curves: rows of scalars, not of responses.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use stapo_curves::is_json_of_curves;

use super::folder::curve_files;

/// What is looked at of a file.
const HEAD: u64 = 1 << 16;

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
        "json" | "jsonl" | "ndjson" => {
            head().is_some_and(|head| is_json_of_curves(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head)))
        }
        _ => false,
    }
}

fn is_binary(head: &[u8]) -> bool {
    head.contains(&0)
}

#[cfg(test)]
mod tests {
    use stapo_curves::is_json_of_curves;

    #[test]
    fn rows_of_responses_are_no_curves() {
        let is = |text: &str| is_json_of_curves(text.as_bytes());
        assert!(is(r#"{"global_step": 3, "log_history": [{"loss": 0.1}]}"#));
        assert!(is("[{\"step\": 1, \"reward\": 0.5},\n{\"step\": 2"));
        assert!(is("{\"train/global_step\": 1, \"reward\": \"0.125\", \"loss\": 0.0}\n"));
        assert!(is(r#"{"total": 2, "steps": [{"step": 1, "reward": 0.5}, {"step": 2, "reward": 0.6}]}"#));
        assert!(is(
            r#"{"a": {"steps": [1, 2], "reward": [0.1, 0.2]}, "b": {"steps": [1], "reward": [0.3]}}"#
        ));
        assert!(is(
            "{\"type\": \"config\", \"argv\": [\"a\"]}\n{\"step\": 1, \"reward\": 0.5}\n{\"step\": 2"
        ));
        assert!(is(r#"[{"step": 1, "positive": 3, "weights": [0.2, 0.8]}]"#));
        assert!(!is(r#"{"step": 1, "lp": [-0.1, -0.2], "entropy": [0.1, 0.2], "group": 3}"#));
        assert!(!is(
            "{\"model\": \"m\", \"lr\": 1e-6}\n{\"prompt\": \"a\", \"reward\": 1}\n{\"prompt\": \"b\", \"reward\": 0}"
        ));
        assert!(!is(r#"{"step": 1, "completion": "42", "reward": 1.0}"#));
        assert!(!is(r#"{"step": 1, "logprob": [-0.1, -0.2], "reward": 1.0}"#));
        assert!(!is("{\"step\": 1"));
        assert!(!is("no json"));
    }
}
