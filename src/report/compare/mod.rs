//! The report of a comparison.

use std::path::Path;

use super::ReportFiles;
use crate::compare::Comparison;
use crate::error::Result;

/// Writes.
pub fn write_comparison(_comparison: &Comparison, folder: &Path) -> Result<ReportFiles> {
    Ok(ReportFiles { html: folder.join("compare.html"), markdown: folder.join("compare.md"), charts: vec![], missing: vec![] })
}
