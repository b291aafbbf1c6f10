//! The report: what an analysis found, as a page, as Markdown, and as charts.

pub mod candidates;
pub mod charts;
mod compare;
pub mod draw;
mod files;
pub mod html;
mod live;
pub mod markdown;
mod markdown_diagnosis;
mod markdown_partial;
pub mod numbers;
mod page;
#[cfg(feature = "replay")]
mod replay;
mod tables;
pub mod text;

pub use compare::write_comparison;
pub use files::ReportFiles;
pub use live::live_page;
#[cfg(feature = "replay")]
pub use replay::write_replay;

use std::path::Path;

use crate::analyze::{PartialAnalysis, RunAnalysis};
use crate::error::Result;

/// Writes `report.html`, `report.md` and `charts/*.{svg,png,csv}` into a folder; the same bytes
/// for the same analysis. The page links `tables/*.parquet`, which the analysis writes itself.
pub fn write_report(analysis: &RunAnalysis, folder: &Path) -> Result<ReportFiles> {
    DrawnReport::of(analysis).write(folder)
}

/// A report that is drawn and not yet written: drawing and writing the tables can go on side by side.
pub struct DrawnReport {
    charts: Vec<charts::Drawn>,
    page: String,
    markdown: String,
}

impl DrawnReport {
    /// Draws the report of an analysis.
    #[must_use]
    pub fn of(analysis: &RunAnalysis) -> Self {
        let charts = charts::draw_all(analysis);
        let (page, markdown) =
            rayon::join(|| html::page(analysis, &charts), || markdown::render(analysis, &charts));
        Self { charts, page, markdown }
    }

    /// Writes what [`write_report`] writes.
    pub fn write(&self, folder: &Path) -> Result<ReportFiles> {
        files::write("report", &self.page, &self.markdown, &self.charts, folder)
    }
}

/// The same for a run without entropy: what can be told, and first what cannot.
pub fn write_partial_report(analysis: &PartialAnalysis, folder: &Path) -> Result<ReportFiles> {
    let drawn = charts::draw_partial(analysis);
    let (page, text) = (html::partial_page(analysis, &drawn), markdown_partial::render(analysis, &drawn));
    files::write("report", &page, &text, &drawn, folder)
}
