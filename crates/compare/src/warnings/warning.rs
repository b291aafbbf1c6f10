//! How a warning of a comparison is made.

use std::collections::BTreeMap;

use crate::result::{CompareCode, CompareWarning};

/// A warning from its words and numbers.
pub fn warning(
    code: CompareCode,
    message: String,
    hint: &str,
    evidence: &[(impl AsRef<str>, f64)],
) -> CompareWarning {
    let evidence: BTreeMap<String, f64> =
        evidence.iter().map(|(what, value)| (what.as_ref().to_owned(), *value)).collect();
    CompareWarning { code, message, hint: hint.into(), evidence }
}

/// Where a sentence has no numbers.
pub const NONE: [(&str, f64); 0] = [];
