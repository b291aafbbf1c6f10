//! What other thresholds would silence: τ_p × q.

use super::matrix::Grid;
use super::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Canvas, Entry, Ink, Key, Pen, Scene, Scenes};
use stapo_base::format::{number, percent};
use stapo_framework::s2t::Population;
use stapo_result::RunAnalysis;

const TITLE: &str = "Silenced tokens for other thresholds";

/// A cell for each choice of thresholds.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let sweep = &analysis.sweep;
    let (rows, columns) = (sweep.tau_p.len(), sweep.quantile.len());
    if rows == 0 || columns == 0 || sweep.cells.iter().all(|c| c.candidates <= 0.0) {
        return Err(Missing::new(TITLE, "rare tokens with A > 0"));
    }
    let mut notes = Vec::new();
    if !sweep.exact {
        notes.push(format!(
            "Estimated: {} of the rare tokens were kept; exact cells are marked in the table.",
            percent(sweep.sampling_rate)
        ));
    }
    Ok(Chart {
        name: "sweep",
        title: TITLE.into(),
        reading: "Each cell counts the tokens that a pair of thresholds would silence; counts that jump from cell to cell mean that the outcome hangs on the choice.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(analysis, width)),
        table: analysis.sweep_frame(),
    })
}

fn ink(analysis: &RunAnalysis, width: u32) -> Scene {
    let sweep = &analysis.sweep;
    let (rows, columns) = (sweep.tau_p.len(), sweep.quantile.len());
    let row_height = if rows > 9 { 26.0 } else { 34.0 };
    let mut canvas = Canvas::new(width, (row_height * rows as f64) as u32 + 78, TITLE);
    let outline = Pen::new(Ink::Spurious).width(2.4);
    canvas.legend(&[
        Entry::new(Key::Line(outline), "thresholds of this run"),
        Entry::new(Key::Area(Pen::new(Ink::Density).alpha(0.42)), "more tokens silenced (log)"),
    ]);
    let left = 74.0;
    let grid = Grid {
        left,
        top: canvas.top() + 4.0,
        width: (canvas.width() - left - 16.0) / columns as f64,
        height: row_height,
    };
    let counts = || sweep.cells.iter().map(|c| c.silenced.ln_1p());
    let (least, most) = (counts().fold(f64::INFINITY, f64::min), counts().fold(0.0, f64::max));
    let mut framed = None;
    for (row, tau_p) in sweep.tau_p.iter().rev().enumerate() {
        let middle = grid.middle(row, 0).1;
        canvas.text(&number_plain(*tau_p), (left - 8.0, middle), Anchor::Right, Ink::Muted);
        for (column, quantile) in sweep.quantile.iter().enumerate() {
            let Some(cell) = sweep.cells.get([rows - 1 - row, column]) else { continue };
            grid.cell(
                &canvas,
                (row, column),
                (cell.silenced.ln_1p() - least) / (most - least).max(1e-9),
                &short(cell.silenced),
            );
            if *tau_p == analysis.s2t.tau_p && Some(*quantile) == analysis.s2t.entropy_quantile {
                framed = Some((row, column));
            }
        }
    }
    if let Some((row, column)) = framed.filter(|_| analysis.s2t.population == Population::Candidates) {
        grid.frame(&canvas, row, column, outline);
    }
    let bottom = grid.top + row_height * rows as f64;
    for (column, quantile) in sweep.quantile.iter().enumerate() {
        let at = (grid.middle(0, column).0, bottom + 12.0);
        canvas.text(&number_plain(*quantile), at, Anchor::Middle, Ink::Muted);
    }
    let middle = (left + canvas.width() - 16.0) / 2.0;
    canvas.x_label("q: the quantile of the candidates' entropy that is τₕ", middle);
    canvas.text("τₚ", (14.0, (grid.top + bottom) / 2.0), Anchor::Upwards, Ink::Muted);
    canvas.finish()
}

/// As the user would type it.
fn number_plain(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A count that fits a cell.
fn short(value: f64) -> String {
    if value < 9_999.5 {
        format!("{value:.0}")
    } else if value < 999_500.0 {
        format!("{:.0}k", value / 1e3)
    } else {
        format!("{}M", number(value / 1e6))
    }
}
