//! Scalars of the trainer over steps, a small chart each.

use super::arms::{self, chosen};
use super::look::label;
use super::over_steps::step_axis;
use crate::charts::series::{draw_series, largest, smallest};
use crate::charts::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, font, ticks};
use crate::text::prose;
use stapo_compare::Comparison;

const TITLE: &str = "Trainer scalars over steps";
/// Scalars that are drawn at most.
const PANELS: usize = 8;
const PANEL_HEIGHT: f64 = 150.0;

/// A panel for each scalar.
pub fn draw(comparison: &Comparison) -> Drawn {
    let mut metrics: Vec<&str> = Vec::new();
    for series in &comparison.trainer {
        if !metrics.contains(&series.metric.as_str()) {
            metrics.push(&series.metric);
        }
    }
    if metrics.is_empty() {
        return Err(Missing::new(
            TITLE,
            "scalars of these runs: --metrics FILE with the columns run, step and numbers",
        ));
    }
    let panels = &metrics[..metrics.len().min(PANELS)];
    let mut notes = vec!["As the trainer logged them, at all of its steps.".to_owned()];
    notes.extend(arms::notes(comparison));
    if metrics.len() > panels.len() {
        notes.push(format!("{} of {} scalars are drawn.", panels.len(), metrics.len()));
    }
    Ok(Chart {
        name: "compare_trainer",
        title: TITLE.into(),
        reading: "The trainer’s own numbers beside ours: where both have a metric, lines should tell the same story.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(comparison, panels, width)),
        table: comparison.trainer_frame(),
    })
}

fn ink(comparison: &Comparison, panels: &[&str], width: u32) -> Scene {
    let across = if width < 600 { 1 } else { 2 };
    let rows = panels.len().div_ceil(across);
    let mut canvas = Canvas::new(width, 40 + (PANEL_HEIGHT * rows as f64) as u32, TITLE);
    let known = |runs: &[String]| comparison.trainer.iter().any(|s| runs.contains(&s.run));
    let named = chosen(comparison).into_iter().filter(|c| known(&c.arm.runs));
    let key = |c: arms::Chosen<'_>| Entry::new(Key::Line(thin(c.pen)), label(&c.arm.name));
    canvas.legend(&named.map(key).collect::<Vec<_>>());
    let size = canvas.width() / across as f64;
    for (index, metric) in panels.iter().enumerate() {
        let left = size * (index % across) as f64;
        let top = canvas.top() + PANEL_HEIGHT * (index / across) as f64;
        draw_panel(&canvas, comparison, metric, [left, top, left + size, top + PANEL_HEIGHT]);
    }
    canvas.finish()
}

fn draw_panel(canvas: &Canvas, comparison: &Comparison, metric: &str, [x0, y0, x1, y1]: [f64; 4]) {
    let lines = arms::lines(comparison, &comparison.trainer, metric);
    let y = || lines.iter().flat_map(|line| &line.points).flat_map(|p| p.1);
    let (low, high) = (smallest(y()).unwrap_or(0.0), largest(y()).unwrap_or(1.0));
    let margin = ((high - low) * 0.08).max(high.abs() * 1e-6).max(1e-12);
    let ticks = ticks::linear(low - margin, high + margin, 3);
    let wide = ticks.iter().map(|t| font::width(&t.1, 12.0, false)).fold(20.0, f64::max);
    let title = font::fit(&prose(metric), 12.0, x1 - x0 - 40.0);
    canvas.strong(&title, (x0 + 14.0, y0 + 10.0), Anchor::Left, Ink::Text);
    let axis = Axis::new("", low - margin..high + margin, ticks);
    let rect = [x0 + wide + 20.0, y0 + 24.0, x1 - 16.0, y1 - 24.0];
    let plot = Plot::inside(canvas, rect, &step_axis(&lines, 4), &axis);
    for line in &lines {
        let pen = thin(line.pen);
        line.draw_band(&plot);
        if line.points.len() > 40 {
            plot.line(&line.means(), pen);
        } else {
            draw_series(&plot, &line.means(), pen, line.mark);
        }
    }
}

fn thin(pen: Pen) -> Pen {
    pen.width(1.5)
}
