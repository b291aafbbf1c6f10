//! From bytes to rows: which form a file has is read off its content.

pub(crate) mod console;
pub(crate) mod delimited;
pub(crate) mod json;
mod plain;

use stapo_base::error::{Error, Result};
use stapo_base::format::counted;

use crate::categories;
use crate::names::Names;
use crate::table::Table;

/// How curves are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The names of columns.
    pub names: Names,
    /// Bytes of memory at most for the rows of a file, and bytes of a file.
    pub memory: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { names: Names::default(), memory: 1 << 30 }
    }
}

/// The rows of one file.
pub(crate) fn table<'n>(file: &str, bytes: &[u8], options: &'n ReadOptions) -> Result<Table<'n>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::Empty { path: file.into() });
    }
    if bytes.len() as u64 > options.memory {
        let message = format!("a file of {}", stapo_base::format::bytes(bytes.len() as u64));
        return Err(Error::TooLarge { path: file.into(), place: String::new(), message });
    }
    let fresh = || Table::new(file, &options.names, options.memory);
    let ending = file.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mut found = fresh();
    let mut syntax = None;
    let is_json = matches!(ending.as_str(), "json" | "jsonl" | "ndjson");
    if matches!(ending.as_str(), "csv" | "tsv") {
        delimited::read(file, bytes, &mut found)?;
    } else {
        let text = bytes.trim_ascii_start();
        if json::begins_object(text) || text.starts_with(b"[") {
            let end = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
            let several = end < text.len() && json::is_object(text[..end].trim_ascii_end());
            if !several {
                match json::document(text, &options.names, fresh()) {
                    Ok(table) => found = table,
                    Err(json::Fault::Refused(error)) => return Err(error),
                    // A console may begin with a bracket: `[02:11:03] step 1`.
                    Err(json::Fault::Syntax(error)) => syntax = is_json.then_some(error),
                }
            }
            if found.rows == 0 && json::lines(text, &mut found)? > 0 {
                syntax = None;
            }
        }
        if found.rows == 0 {
            found = console::read(bytes, &options.names, fresh)?;
        }
    }
    match (found.has_curves(), syntax) {
        (true, syntax) => {
            if let Some(error) = syntax {
                found.notes.push(format!("no JSON as a whole, rows within lines were read: {error}"));
            }
            categories::tell_apart(&mut found)?;
            Ok(found)
        }
        (false, Some(error)) => Err(Error::Corrupt {
            path: file.into(),
            place: String::new(),
            message: format!("no JSON: {error}"),
        }),
        (false, None) => Err(nothing_known(file, &found)),
    }
}

/// Rows without a column that the table of names knows, or no rows at all.
fn nothing_known(file: &str, table: &Table<'_>) -> Error {
    let unknown = table.unknown();
    let message = match (table.rows, unknown.len()) {
        (0, _) => format!("{file}: it has no rows of numbers"),
        (rows, 0) => {
            format!("{file}: {} without any number of a training", counted(u64::from(rows), "row", "rows"))
        }
        (rows, _) => {
            let names: Vec<&str> = unknown.iter().take(12).map(String::as_str).collect();
            format!(
                "{file}: {}, and no column is known ({})",
                counted(u64::from(rows), "row", "rows"),
                names.join(", ")
            )
        }
    };
    let hint = "curves are read from trainer_state.json, JSON lines, a JSON array, CSV, exports of Weights & Biases, \
                the consoles of verl and TRL, and lines with a step and `name: number` or `name=number`; name a column with --map reward=COLUMN"
        .into();
    Error::Usage { message, hint }
}
