//! The report of a comparison: page, Markdown, charts.

mod causes;
mod charts;
mod html;
mod markdown;
mod metrics;
mod shown_arms;
mod tables;

use std::path::Path;

use super::files::{self, ReportFiles};
use stapo_base::error::Result;
use stapo_compare::Comparison;

/// Writes `compare.html`, `compare.md` and `charts/compare_*.{svg,png,csv}` into a folder; the same
/// bytes for the same comparison. The page links `tables/compare_*.parquet`, which the comparison
/// writes itself.
pub fn write_comparison(comparison: &Comparison, folder: &Path) -> Result<ReportFiles> {
    let drawn = charts::draw_all(comparison);
    let (page, text) = (html::page(comparison, &drawn), markdown::render(comparison, &drawn));
    files::write("compare", &page, &text, &drawn, folder)
}
