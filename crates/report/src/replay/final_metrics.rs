//! Where every objective ended, with intervals over seeds.

use super::objectives::at_start;
use super::series::pen;
use crate::charts::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Dash, Ink, Mark, Pen, Plot, Scene, Scenes, font, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_result::replay::ReplayResult;
use stapo_result::replay::{Metric, MetricSummary};

const TITLE: &str = "Where each objective ended, on the hold-out";
const SHOWN: [(Metric, &str); 4] = [
    (Metric::Auc, "AUC, correct over wrong"),
    (Metric::CorrectLogprob, "ln π of correct responses"),
    (Metric::WrongLogprob, "ln π of wrong responses"),
    (Metric::Entropy, "entropy (nats)"),
];
const ROW: f64 = 24.0;
const PANEL_TOP: f64 = 26.0;
const PANEL_BOTTOM: f64 = 34.0;

/// A panel for each metric, a row in it for each objective.
pub fn draw(result: &ReplayResult) -> Drawn {
    let shown: Vec<(Metric, &str)> =
        SHOWN.into_iter().filter(|(metric, _)| !values(result, *metric).is_empty()).collect();
    if shown.is_empty() {
        return Err(Missing::new(TITLE, "responses that are held out (--holdout)"));
    }
    let mut notes = vec!["The broken line is the policy before any update.".to_owned()];
    notes.push(match result.training.seeds {
        1 => "One seed: no interval can be given.".into(),
        n => format!("Marks are means, bars 95 % intervals over {n} seeds, small dots the seeds."),
    });
    Ok(Chart {
        name: "replay_final",
        title: TITLE.into(),
        reading: "Arms of one seed share their mini-batches: small differences can hold although bars overlap. The table of paired differences decides.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(result, &shown, width)),
        table: table(result),
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ink(result: &ReplayResult, shown: &[(Metric, &str)], width: u32) -> Scene {
    let rows = result.summary.len() as f64;
    let across = if width < 600 { 1 } else { 2 };
    let panel = PANEL_TOP + rows * ROW + PANEL_BOTTOM;
    let height = shown.len().div_ceil(across) as f64 * panel + 6.0;
    let canvas = Canvas::new(width, height as u32, TITLE);
    let names =
        result.summary.iter().map(|row| font::width(row.objective.name(), 12.0, false)).fold(40.0, f64::max);
    let each = (canvas.width() - names - 30.0) / across as f64;
    for (place, (metric, label)) in shown.iter().enumerate() {
        let (column, line) = ((place % across) as f64, (place / across) as f64);
        let left = names + 24.0 + column * each;
        let top = canvas.top() + line * panel + PANEL_TOP;
        // Room for the labels of ticks at the ends of two neighbours.
        let rect = [left, top, left + each - 56.0, top + rows * ROW];
        draw_panel(&canvas, result, *metric, label, rect, column == 0.0);
    }
    canvas.finish()
}

fn values(result: &ReplayResult, metric: Metric) -> Vec<(usize, &MetricSummary)> {
    let rows = result.summary.iter().enumerate();
    rows.filter_map(|(place, row)| Some((place, row.metrics.iter().find(|m| m.metric == metric)?))).collect()
}

fn draw_panel(
    canvas: &Canvas,
    result: &ReplayResult,
    metric: Metric,
    label: &str,
    rect: [f64; 4],
    named: bool,
) {
    let found = values(result, metric);
    let start = result.start.as_ref().and_then(|s| at_start(s, metric));
    let ends = found.iter().flat_map(|(_, m)| {
        let half = m.interval.unwrap_or(0.0);
        m.values.iter().copied().chain([m.mean - half, m.mean + half])
    });
    let (low, high) =
        ends.chain(start).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let margin = ((high - low) * 0.12).max(high.abs() * 1e-3).max(1e-9);
    let (low, high) = (low - margin, high + margin);
    let x = Axis::new(label, low..high, apart(low, high, rect[2] - rect[0]));
    let count = result.summary.len();
    let y = Axis::new("", 0.0..count as f64, Vec::new());
    let plot = Plot::inside(canvas, rect, &x, &y);
    canvas.strong(label, (rect[0], rect[1] - 12.0), Anchor::Left, Ink::Text);
    if let Some(start) = start {
        plot.upright(start, Pen::new(Ink::Muted).dash(Dash::Short));
    }
    for (place, row) in result.summary.iter().enumerate() {
        let level = (count - place) as f64 - 0.5;
        if named {
            let (_, y) = plot.pixel(low, level);
            canvas.text(row.objective.name(), (rect[0] - 10.0, y), Anchor::Right, Ink::Text);
        }
        let Some((_, m)) = found.iter().find(|(p, _)| *p == place) else { continue };
        let (pen, mark) = pen(place);
        let pen = pen.dash(Dash::Solid);
        if let Some(half) = m.interval {
            plot.line(&[(m.mean - half, level), (m.mean + half, level)], pen.width(2.4));
            m.values.iter().for_each(|v| plot.mark(*v, level + 0.28, Mark::Dot, 1.8, pen.alpha(0.6)));
        }
        plot.mark(m.mean, level, mark, 4.6, pen);
    }
}

/// As many ticks as the width has room for, up to four.
fn apart(low: f64, high: f64, width: f64) -> Vec<(f64, String)> {
    let mut count = 4;
    loop {
        let ticks = ticks::linear(low, high, count);
        let widest = ticks.iter().map(|t| font::width(&t.1, 12.0, false)).fold(0.0, f64::max);
        if count == 1 || (widest + 12.0) * ticks.len() as f64 <= width {
            return ticks;
        }
        count -= 1;
    }
}

fn table(result: &ReplayResult) -> DataFrame {
    let rows: Vec<_> =
        result.summary.iter().flat_map(|row| row.metrics.iter().map(move |m| (row, m))).collect();
    Columns::of(&rows)
        .text("objective", |r| r.0.objective.name())
        .text("metric", |r| r.1.metric.label())
        .float("mean", |r| r.1.mean)
        .float("interval", |r| r.1.interval)
        .count("seeds", |r| r.1.values.len() as u64)
        .frame()
}
