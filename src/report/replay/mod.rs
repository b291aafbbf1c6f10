//! The report of a replay: what the data supports, curves of every arm, tables, cases.

mod cases;
mod curves;
mod drift;
mod final_metrics;
mod html;
mod markdown;
mod objectives;
mod series;
mod sheet;
mod tables;

use std::path::Path;

use rayon::prelude::*;

use super::charts::Drawn;
use super::{ReportFiles, write_files};
use crate::error::Result;
use crate::replay::{ArmTiming, ReplayResult};

/// Writes `replay.html`, `replay.md` and `charts/*.{svg,png,csv}` into a folder. `timing` is shown,
/// but no part of the result.
pub fn write_replay(result: &ReplayResult, timing: &[ArmTiming], folder: &Path) -> Result<ReportFiles> {
    let charts = draw_all(result);
    let pages = [
        (folder.join("replay.html"), html::page(result, timing, &charts)),
        (folder.join("replay.md"), markdown::render(result, &charts)),
    ];
    write_files(&charts, pages, folder)
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
