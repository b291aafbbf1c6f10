//! `trainer_state.json` of transformers: what its trainer logged, in `log_history`.

use std::path::Path;

use serde_json::Value;

use super::scalars::Scalars;
use stapo_base::error::{Error, Result};
use stapo_base::non_finite::to_null as non_finite_to_null;

/// Fields of an entry that are no metrics.
const NO_METRICS: [&str; 2] = ["step", "epoch"];

/// The rows of a file.
pub fn scalars(bytes: &[u8], path: &Path, run: &str) -> Result<Scalars> {
    let corrupt = |message: String| Error::Corrupt { path: path.to_owned(), place: String::new(), message };
    let value: Value =
        serde_json::from_slice(&non_finite_to_null(bytes)).map_err(|e| corrupt(e.to_string()))?;
    let Some(history) = value.get("log_history").and_then(Value::as_array) else {
        return Err(Error::Usage {
            message: format!("{}: no list `log_history`", path.display()),
            hint: "--metrics reads trainer_state.json of transformers, or CSV".into(),
        });
    };
    let mut found = Scalars::default();
    for (row, entry) in history.iter().enumerate() {
        let Some(entry) = entry.as_object() else { continue };
        let step = entry.get("step").and_then(Value::as_i64).ok_or_else(|| Error::BadRow {
            path: path.to_owned(),
            row: row as u64,
            column: "step".into(),
            message: "an entry of `log_history` without a whole step".into(),
        })?;
        let number = found.rows.len();
        found.rows.push((run.to_owned(), step));
        for (name, value) in entry.iter().filter(|(name, _)| !NO_METRICS.contains(&name.as_str())) {
            let Some(value) = value.as_f64() else { continue };
            let at = found.columns.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                found.columns.push((name.clone(), Vec::new()));
                found.columns.len() - 1
            });
            let column = &mut found.columns[at].1;
            column.resize(number, None);
            column.push(Some(value));
        }
    }
    let rows = found.rows.len();
    found.columns.iter_mut().for_each(|(_, values)| values.resize(rows, None));
    Ok(found)
}
