//! The files of a report.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::charts::{Chart, Drawn, Missing};
use super::draw::{png, svg};
use super::text::token_label;
use stapo_base::error::{Error, Result};
use stapo_base::output::{committing, remove_stale, write_file};
use stapo_base::tables::csv::to_csv;

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
    let charts = write_charts(name, drawn, folder)?;
    write_pages(name, [html, markdown], charts, drawn, folder)
}

/// Writes every chart into `charts/`, each file on its own: some are a thousand times as large as others.
pub fn write_charts(name: &str, drawn: &[Drawn], folder: &Path) -> Result<Vec<PathBuf>> {
    let folder = folder.join("charts");
    let of_charts = drawn.iter().filter_map(|chart| chart.as_ref().ok());
    let files: Vec<(&Chart, &str, PathBuf)> = of_charts
        .flat_map(|chart| ENDINGS.map(|ending| (chart, ending, format!("{}.{ending}", chart.name))))
        .map(|(chart, ending, name)| (chart, ending, folder.join(name)))
        .collect();
    let names = files.iter().filter_map(|(.., path)| path.file_name()?.to_str().map(str::to_owned));
    remove_stale(&folder, name, &names.collect())?;
    // What takes longest begins first, and no thread keeps several to itself.
    let mut longest_first: Vec<&(&Chart, &str, PathBuf)> = files.iter().collect();
    longest_first.sort_by_key(|(chart, ending, _)| Reverse(work(chart, ending)));
    let bytes = |chart: &Chart, ending: &str, path: &Path| match ending {
        "svg" => Ok(svg::standalone(&chart.scenes.wide, &chart.title).into_bytes()),
        "csv" => Ok(to_csv(&chart.table, token_label).into_bytes()),
        _ => png::render(&chart.scenes.wide).ok_or_else(|| Error::write(path, "the chart has no size")),
    };
    committing(|commits| {
        let write = |(chart, ending, path): &(&Chart, &str, PathBuf)| {
            commits.write(path, &bytes(chart, ending, path)?)
        };
        longest_first.into_par_iter().with_max_len(1).try_for_each(write)
    })?;
    Ok(files.into_iter().map(|(.., path)| path).collect())
}

/// About how long a file takes, as numbers that are written: a picture takes as long as so many.
fn work(chart: &Chart, ending: &str) -> usize {
    const PICTURE: usize = 40_000;
    match ending {
        "svg" => 2 * chart.scenes.wide.shapes.len(),
        "csv" => chart.table.height() * chart.table.width(),
        _ => PICTURE + chart.scenes.wide.shapes.len(),
    }
}

/// Writes `NAME.html` and `NAME.md`. The page comes last: what it links is there.
pub fn write_pages(
    name: &str,
    [html, markdown]: [&str; 2],
    charts: Vec<PathBuf>,
    drawn: &[Drawn],
    folder: &Path,
) -> Result<ReportFiles> {
    let [page, text] = ["html", "md"].map(|ending| folder.join(format!("{name}.{ending}")));
    write_file(&text, markdown.as_bytes())?;
    write_file(&page, html.as_bytes())?;
    let missing = drawn.iter().filter_map(|chart| chart.as_ref().err().cloned()).collect();
    Ok(ReportFiles { html: page, markdown: text, charts, missing })
}
