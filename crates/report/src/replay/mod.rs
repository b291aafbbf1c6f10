//! The report of a replay: what the data supports, curves of every arm, tables, cases.

mod cases;
mod curves;
mod drift;
mod final_metrics;
mod html;
mod markdown;
mod objectives;
mod series;
mod tables;
mod words;

use std::path::Path;

use rayon::prelude::*;

use super::charts::Drawn;
use super::files::{self, ReportFiles};
use stapo_base::error::Result;
use stapo_result::replay::{ArmTiming, ReplayResult};

/// Writes `replay.html`, `replay.md` and `charts/*.{svg,png,csv}` into a folder. `timing` is shown,
/// but no part of the result.
pub fn write_replay(result: &ReplayResult, timing: &[ArmTiming], folder: &Path) -> Result<ReportFiles> {
    let charts = draw_all(result);
    let (page, text) = (html::page(result, timing, &charts), markdown::render(result, &charts));
    files::write("replay", &page, &text, &charts, folder)
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
