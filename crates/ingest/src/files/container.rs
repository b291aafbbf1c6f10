//! What the name of a file says: how to read it, or why not.

use std::path::Path;

use stapo_base::error::{Error, Result};

const PICKLES: &[&str] = &["pt", "pth", "pkl", "pickle", "dp"];

/// What a file's name says about how to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Container {
    /// Apache Parquet.
    Parquet,
    /// JSON lines, plain or compressed.
    Json,
}

/// Whether the name is that of a container that runs code when it is opened.
pub fn is_pickle(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    extension.is_some_and(|e| PICKLES.contains(&e.as_str()))
}

/// Names the converter for such a container.
pub fn pickle_error(path: &Path) -> Error {
    let shown = path.to_string_lossy().to_lowercase();
    let converter = if shown.ends_with(".dp") || shown.contains("tq_batch") {
        "examples/convert/verl_dataproto_to_parquet.py"
    } else if shown.contains("training_input") {
        "examples/convert/skyrl_to_parquet.py"
    } else if shown.contains("buffer") {
        "examples/convert/oat_to_parquet.py"
    } else {
        "examples/convert/slime_to_parquet.py"
    };
    Error::Pickle { path: path.to_owned(), converter }
}

/// How a file of this name is read.
pub fn container_of(path: &Path) -> Result<Container> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ends = |suffixes: &[&str]| suffixes.iter().any(|s| name.ends_with(s));
    if ends(&[".parquet", ".pq"]) {
        Ok(Container::Parquet)
    } else if ends(&[".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst"]) {
        Ok(Container::Json)
    } else if is_pickle(path) {
        Err(pickle_error(path))
    } else {
        Err(Error::UnknownFormat { path: path.to_owned() })
    }
}
