//! The result as files.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::result::RunAnalysis;
use crate::error::{Error, Result};
use crate::output::AtomicFile;
use crate::tables::parquet;

impl RunAnalysis {
    /// The summary as a JSON value.
    pub fn to_value(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|e| Error::write(Path::new("summary.json"), e))
    }

    /// The summary as JSON text.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|e| Error::write(Path::new("summary.json"), e))
    }

    /// Writes `summary.json` into `folder`.
    pub fn write_summary(&self, folder: &Path) -> Result<()> {
        let path = folder.join("summary.json");
        let mut file = AtomicFile::create(&path)?;
        file.write_all(self.to_json()?.as_bytes()).map_err(|e| Error::write(&path, e))?;
        file.commit()
    }

    /// Writes `tables/*.parquet` into `folder`; all but the flagged tokens, which
    /// [`FlaggedTokens`](super::FlaggedTokens) writes.
    pub fn write_tables(&self, folder: &Path) -> Result<()> {
        parquet::write_all(&self.frames(), folder)
    }
}
