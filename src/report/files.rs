//! The files of a report.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::charts::{Chart, Drawn, Missing};
use super::draw::{png, svg};
use super::text::token_label;
use crate::error::{Error, Result};
use crate::output::{remove_stale, write_file};
use crate::tables::csv::to_csv;

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

/// The files of a chart.
const ENDINGS: [&str; 3] = ["svg", "png", "csv"];

/// Writes `NAME.html` and `NAME.md`, and every chart into `charts/`.
pub fn write(name: &str, html: &str, markdown: &str, drawn: &[Drawn], folder: &Path) -> Result<ReportFiles> {
    let pages = [(folder.join(format!("{name}.html")), html), (folder.join(format!("{name}.md")), markdown)];
    let of_charts: Vec<&Chart> = drawn.iter().filter_map(|c| c.as_ref().ok()).collect();
    let charts = folder.join("charts");
    let names = of_charts.iter().flat_map(|chart| ENDINGS.map(|ending| format!("{}.{ending}", chart.name)));
    remove_stale(&charts, name, &names.collect())?;
    let files = of_charts.par_iter().map(|chart| write_chart(chart, &charts));
    let files = files.collect::<Result<Vec<_>>>()?;
    // The page comes last: what it links is there.
    pages.iter().rev().try_for_each(|(path, text)| write_file(path, text.as_bytes()))?;
    let missing = drawn.iter().filter_map(|c| c.as_ref().err().cloned()).collect();
    let [(html, _), (markdown, _)] = pages;
    Ok(ReportFiles { html, markdown, charts: files.into_iter().flatten().collect(), missing })
}

fn write_chart(chart: &Chart, folder: &Path) -> Result<Vec<PathBuf>> {
    let [svg, png, csv] = ENDINGS.map(|ending| folder.join(format!("{}.{ending}", chart.name)));
    write_file(&svg, svg::standalone(&chart.scenes.wide, &chart.title).as_bytes())?;
    let image = png::render(&chart.scenes.wide).ok_or_else(|| Error::write(&png, "the chart has no size"))?;
    write_file(&png, &image)?;
    write_file(&csv, to_csv(&chart.table, token_label).as_bytes())?;
    Ok(vec![svg, png, csv])
}
