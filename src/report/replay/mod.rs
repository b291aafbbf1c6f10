//! The report of a replay: what the data supports, curves of every arm, tables, cases.

mod cases;
mod curves;
mod drift;
mod final_metrics;
mod html;
mod markdown;
mod series;
mod tables;

use std::path::Path;

use rayon::prelude::*;

use super::charts::{Chart, Drawn};
use super::{ReportFiles, write, write_chart};
use crate::error::Result;
use crate::replay::{ArmTiming, ReplayResult};

/// Writes `replay.html`, `replay.md` and `charts/*.{svg,png,csv}` into a folder. `timing` is shown,
/// but no part of the result.
pub fn write_report(result: &ReplayResult, timing: &[ArmTiming], folder: &Path) -> Result<ReportFiles> {
    let charts = draw_all(result);
    let (page, text) = (folder.join("replay.html"), folder.join("replay.md"));
    let drawn: Vec<&Chart> = charts.iter().filter_map(|c| c.as_ref().ok()).collect();
    let files = drawn.par_iter().map(|chart| write_chart(chart, &folder.join("charts")));
    let files: Vec<_> = files.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    write(&text, markdown::render(result, &charts).as_bytes())?;
    // Last, so that its links never dangle.
    write(&page, html::page(result, timing, &charts).as_bytes())?;
    let missing = charts.iter().filter_map(|c| c.as_ref().err().cloned()).collect();
    Ok(ReportFiles { html: page, markdown: text, charts: files, missing })
}

fn draw_all(result: &ReplayResult) -> Vec<Drawn> {
    let charts: [fn(&ReplayResult) -> Drawn; 7] = [
        final_metrics::draw,
        curves::separation,
        curves::likelihood,
        curves::entropy,
        curves::gradient,
        curves::divergence,
        drift::draw,
    ];
    charts.par_iter().map(|draw| draw(result)).collect()
}
