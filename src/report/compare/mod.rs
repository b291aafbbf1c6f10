//! The report of a comparison: page, Markdown, charts.

mod charts;
mod html;
mod markdown;
mod tables;

use std::path::Path;

use super::ReportFiles;
use crate::compare::Comparison;
use crate::error::Result;

/// Writes `compare.html`, `compare.md` and `charts/compare_*.{svg,png,csv}` into a folder; the same
/// bytes for the same comparison. The page links `tables/compare_*.parquet`, which the comparison
/// writes itself.
pub fn write_comparison(comparison: &Comparison, folder: &Path) -> Result<ReportFiles> {
    let drawn = charts::draw_all(comparison);
    let pages = [
        (folder.join("compare.html"), html::page(comparison, &drawn)),
        (folder.join("compare.md"), markdown::render(comparison, &drawn)),
    ];
    super::write_files(&drawn, pages, folder)
}
