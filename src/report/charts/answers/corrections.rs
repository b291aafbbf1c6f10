//! Corrections: what they drop against what they leave effective.

use crate::analyze::result::Answers;
use crate::analyze::result::corrections::CorrectionRow;
use crate::report::charts::{Chart, HEIGHT};
use crate::report::draw::{Anchor, Axis, Canvas, Ink, Mark, Pen, Plot, Scene, Scenes, ticks};
use crate::tables::Columns;

const TITLE: &str = "Corrections for an off-policy sampler";

/// Draws it; `None` without engine differences.
pub fn draw(answers: &Answers) -> Option<Chart> {
    let rows = &answers.offpolicy.as_ref()?.corrections;
    if rows.is_empty() {
        return None;
    }
    let table = Columns::of(rows)
        .text("rule", |r| &r.rule)
        .float("dropped_tokens", |r| r.dropped_tokens)
        .float("changed_tokens", |r| r.changed_tokens)
        .float("ess", |r| r.ess)
        .float("energy_kept", |r| r.energy_kept)
        .float("spurious_removed", |r| r.spurious_removed)
        .frame();
    Some(Chart {
        name: "corrections",
        title: TITLE.into(),
        reading: "Each correction by the share of tokens it drops and the share that stays effective: to the upper left it repairs much and costs little.".into(),
        notes: Vec::new(),
        scenes: Scenes::draw(|width| ink(rows, width)),
        table,
    })
}

fn ink(rows: &[CorrectionRow], width: u32) -> Scene {
    let canvas = Canvas::new(width, HEIGHT, TITLE);
    let x = Axis::new("tokens with weight 0 (%)", -2.0..108.0, ticks::linear(0.0, 100.0, 6));
    let y = Axis::new("effective share of the tokens", 0.0..1.06, ticks::linear(0.0, 1.0, 6));
    let plot = Plot::new(&canvas, &x, &y);
    let pen = Pen::new(Ink::Exploratory).width(2.0);
    let mut taken: Vec<f64> = Vec::new();
    for row in rows {
        let (x, y) = (row.dropped_tokens * 100.0, row.ess.unwrap_or(0.0));
        plot.mark(x, y, Mark::Dot, 4.5, pen);
        let (left, mut top) = plot.pixel(x, y);
        // Names of corrections that lie together stand below each other.
        while taken.iter().any(|other| (other - top).abs() < 13.0) {
            top += 13.0;
        }
        taken.push(top);
        let right = left < canvas.width() * 0.6;
        let at = if right { (left + 9.0, top) } else { (left - 9.0, top) };
        canvas.text(&row.rule, at, if right { Anchor::Left } else { Anchor::Right }, Ink::Text);
    }
    canvas.finish()
}
