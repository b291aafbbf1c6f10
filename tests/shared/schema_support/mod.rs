//! Checks JSON against the published schemas.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde_json::Value;

/// File of the schema of `name`.json.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/{name}.schema.json"))
}

/// Fails where `value` does not follow the published schema of `name`.json.
pub fn validate(value: &Value, name: &str) {
    let schema: Value = serde_json::from_slice(&std::fs::read(file(name)).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}.json:\n{}", errors.join("\n"));
}
