//! The report: what an analysis found, as a page, as Markdown, and as charts.

pub mod candidates;
pub mod charts;
mod compare;
pub mod csv;
pub mod draw;
pub mod html;
pub mod markdown;
pub mod numbers;
mod replay;
pub mod text;

pub use compare::write_comparison;
pub use replay::write_replay;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::analyze::RunAnalysis;
use crate::error::{Error, Result};
use crate::output::AtomicFile;
use charts::{Chart, Drawn, Missing};
use draw::{png, svg};

/// The files of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFiles {
    /// The page.
    pub html: PathBuf,
    /// The Markdown.
    pub markdown: PathBuf,
    /// Charts as SVG and PNG, and the numbers of each as CSV.
    pub charts: Vec<PathBuf>,
    /// Charts that the log holds no data for.
    pub missing: Vec<Missing>,
}

/// Writes `report.html`, `report.md` and `charts/*.{svg,png,csv}` into a folder; the same bytes
/// for the same analysis. The page links `tables/*.parquet`, which the analysis writes itself.
pub fn write_report(analysis: &RunAnalysis, folder: &Path) -> Result<ReportFiles> {
    let drawn = charts::draw_all(analysis);
    let pages = [
        (folder.join("report.html"), html::page(analysis, &drawn)),
        (folder.join("report.md"), markdown::render(analysis, &drawn)),
    ];
    write_files(&drawn, pages, folder)
}

/// Writes page and Markdown, and every chart.
fn write_files(drawn: &[Drawn], pages: [(PathBuf, String); 2], folder: &Path) -> Result<ReportFiles> {
    let of_charts: Vec<&Chart> = drawn.iter().filter_map(|c| c.as_ref().ok()).collect();
    let (written, files) = rayon::join(
        || pages.iter().try_for_each(|(path, text)| write(path, text.as_bytes())),
        || {
            let files = of_charts.par_iter().map(|chart| write_chart(chart, &folder.join("charts")));
            files.collect::<Result<Vec<_>>>()
        },
    );
    written?;
    let missing = drawn.iter().filter_map(|c| c.as_ref().err().cloned()).collect();
    let [(html, _), (markdown, _)] = pages;
    Ok(ReportFiles { html, markdown, charts: files?.into_iter().flatten().collect(), missing })
}

fn write_chart(chart: &Chart, folder: &Path) -> Result<Vec<PathBuf>> {
    let path = |ending: &str| folder.join(format!("{}.{ending}", chart.name));
    let (svg, png, csv) = (path("svg"), path("png"), path("csv"));
    write(&svg, svg::standalone(&chart.scene, &chart.title).as_bytes())?;
    let image = png::render(&chart.scene).ok_or_else(|| Error::write(&png, "the chart has no size"))?;
    write(&png, &image)?;
    write(&csv, chart.table.to_csv().as_bytes())?;
    Ok(vec![svg, png, csv])
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::write(path, e))?;
    file.commit()
}
