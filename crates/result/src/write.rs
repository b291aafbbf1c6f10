//! The result as files.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::{PartialAnalysis, RunAnalysis};
use stapo_base::error::{Error, Result};
use stapo_base::output::{AtomicFile, json_text};
use stapo_base::tables::parquet;

/// The kind of report that both results belong to: they replace each other in a folder.
const KIND: &str = "report";

/// What both results give: the summary as JSON and as a file, and the tables, of which `$others` come from elsewhere.
macro_rules! written {
    ($Result:ident, $others:expr, $(#[$tables:meta])*) => {
        impl $Result {
            /// The summary as a JSON value.
            pub fn to_value(&self) -> Result<Value> {
                value(self)
            }

            /// The summary as JSON text.
            pub fn to_json(&self) -> Result<String> {
                json(self)
            }

            /// Writes `summary.json` into `folder`.
            pub fn write_summary(&self, folder: &Path) -> Result<()> {
                write_json(self, folder)
            }

            $(#[$tables])*
            pub fn write_tables(&self, folder: &Path) -> Result<()> {
                parquet::write_all(KIND, &self.frames(), &$others, folder)
            }
        }
    };
}

written!(
    RunAnalysis,
    ["flagged"],
    /// Writes `tables/*.parquet` into `folder`; all but the flagged tokens, which
    /// `FlaggedTokens` of the pass writes.
);
written!(
    PartialAnalysis,
    [],
    /// Writes `tables/*.parquet` into `folder`.
);

fn value(of: &impl Serialize) -> Result<Value> {
    serde_json::to_value(of).map_err(|e| Error::write(Path::new("summary.json"), e))
}

fn json(of: &impl Serialize) -> Result<String> {
    json_text(of, Path::new("summary.json"))
}

fn write_json(of: &impl Serialize, folder: &Path) -> Result<()> {
    let path = folder.join("summary.json");
    let mut file = AtomicFile::create(&path)?;
    file.write_all(json(of)?.as_bytes()).map_err(|e| Error::write(&path, e))?;
    file.commit()
}
