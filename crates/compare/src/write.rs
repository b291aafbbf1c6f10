//! The result as files.

use std::path::Path;

use serde_json::Value;

use super::result::Comparison;
use stapo_base::error::{Error, Result};
use stapo_base::output::{json_text, write_file};
use stapo_base::tables::parquet;

const FILE: &str = "compare.json";

impl Comparison {
    /// The comparison as a JSON value.
    pub fn to_value(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|e| Error::write(Path::new(FILE), e))
    }

    /// The comparison as JSON text.
    pub fn to_json(&self) -> Result<String> {
        json_text(self, Path::new(FILE))
    }

    /// Writes `compare.json` and `tables/compare_*.parquet` into `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        parquet::write_all("compare", &self.frames(), &[], folder)?;
        let path = folder.join(FILE);
        write_file(&path, self.to_json()?.as_bytes())
    }
}
