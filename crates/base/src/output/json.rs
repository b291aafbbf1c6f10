//! JSON as it is written and printed: indented, with a line feed at the end.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};

/// A value as the text of its file.
pub fn json_text<T: Serialize + ?Sized>(value: &T, file: &Path) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|e| Error::write(file, e))
}
