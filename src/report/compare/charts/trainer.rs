//! Scalars of the trainer over steps, a small chart each.

use super::over_steps::{of_metric, step_axis, thinned};
use super::{label, look};
use crate::compare::Comparison;
use crate::report::charts::series::{draw_series, largest, smallest};
use crate::report::charts::{Chart, Drawn, Missing};
use crate::report::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, font, ticks};
use crate::report::text::prose;

const TITLE: &str = "Trainer scalars over steps";
/// Scalars that are drawn at most.
const PANELS: usize = 8;
const PANEL_HEIGHT: f64 = 150.0;

/// Draws it.
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
    let named = |run: usize| {
        let name = &comparison.runs[run].name;
        let known = comparison.trainer.iter().any(|s| s.run == *name);
        known.then(|| Entry::new(Key::Line(thin(run)), label(name)))
    };
    canvas.legend(&(0..comparison.runs.len().min(super::RUNS)).filter_map(named).collect::<Vec<_>>());
    let size = canvas.width() / across as f64;
    for (index, metric) in panels.iter().enumerate() {
        let left = size * (index % across) as f64;
        let top = canvas.top() + PANEL_HEIGHT * (index / across) as f64;
        draw_panel(&canvas, comparison, metric, [left, top, left + size, top + PANEL_HEIGHT]);
    }
    canvas.finish()
}

fn draw_panel(canvas: &Canvas, comparison: &Comparison, metric: &str, [x0, y0, x1, y1]: [f64; 4]) {
    let found = of_metric(comparison, &comparison.trainer, metric);
    let lines: Vec<Vec<(f64, f64)>> =
        found.iter().take(super::RUNS).map(|(_, s)| thinned(&s.points)).collect();
    let y = || lines.iter().flatten().map(|p| p.1);
    let (low, high) = (smallest(y()).unwrap_or(0.0), largest(y()).unwrap_or(1.0));
    let margin = ((high - low) * 0.08).max(high.abs() * 1e-6).max(1e-12);
    let ticks = ticks::linear(low - margin, high + margin, 3);
    let wide = ticks.iter().map(|t| font::width(&t.1, 12.0, false)).fold(20.0, f64::max);
    let title = font::fit(&prose(metric), 12.0, x1 - x0 - 40.0);
    canvas.strong(&title, (x0 + 14.0, y0 + 10.0), Anchor::Left, Ink::Text);
    let axis = Axis::new("", low - margin..high + margin, ticks);
    let rect = [x0 + wide + 20.0, y0 + 24.0, x1 - 16.0, y1 - 24.0];
    let plot = Plot::inside(canvas, rect, &step_axis(lines.iter().flatten(), 4), &axis);
    for ((run, _), line) in found.iter().zip(&lines) {
        let (_, mark) = look(*run);
        if line.len() > 40 {
            plot.line(line, thin(*run));
        } else {
            draw_series(&plot, line, thin(*run), mark);
        }
    }
}

fn thin(run: usize) -> Pen {
    look(run).0.width(1.5)
}
