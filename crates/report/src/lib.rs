//! The report: what an analysis found, as a page, as Markdown, and as charts.

pub mod candidates;
pub mod charts;
pub mod draw;
mod files;
pub mod html;
pub mod markdown;
mod markdown_diagnosis;
mod markdown_partial;
pub mod numbers;
mod page;
mod run_name;
mod tables;
pub mod text;

pub use files::ReportFiles;

use std::path::Path;

use stapo_base::error::Result;
use stapo_result::{PartialAnalysis, RunAnalysis};

/// What the files of a run's report are called.
const REPORT: &str = "report";

/// Writes `report.html`, `report.md` and `charts/*.{svg,png,csv}` into a folder; the same bytes
/// for the same analysis. The page links `tables/*.parquet`, which the analysis writes itself.
pub fn write_report(analysis: &RunAnalysis, folder: &Path) -> Result<ReportFiles> {
    write_report_beside(analysis, folder, || Ok(()))
}

/// The same while `beside` writes the tables; the page comes last, when both are done.
pub fn write_report_beside(
    analysis: &RunAnalysis,
    folder: &Path,
    beside: impl FnOnce() -> Result<()> + Send,
) -> Result<ReportFiles> {
    let report = || {
        let drawn = charts::draw_all(analysis);
        let (written, pages) = rayon::join(
            || files::write_charts(REPORT, &drawn, folder),
            || rayon::join(|| html::page(analysis, &drawn), || markdown::render(analysis, &drawn)),
        );
        (drawn, written, pages)
    };
    let (beside, (drawn, charts, (page, text))) = rayon::join(beside, report);
    beside?;
    files::write_pages(REPORT, [&page, &text], charts?, &drawn, folder)
}

/// The same for a run without entropy: what can be told, and first what cannot.
pub fn write_partial_report(analysis: &PartialAnalysis, folder: &Path) -> Result<ReportFiles> {
    let drawn = charts::draw_partial(analysis);
    let (page, text) = (html::partial_page(analysis, &drawn), markdown_partial::render(analysis, &drawn));
    files::write(REPORT, &page, &text, &drawn, folder)
}
