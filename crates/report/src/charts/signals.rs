//! The signals over steps as small multiples, damage marked.

use std::collections::BTreeSet;

use super::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Canvas, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes};
use crate::text::{prose, sentence};
use stapo_base::format::number;
use stapo_base::stats::sustained::Direction;
use stapo_base::tables::Columns;
use stapo_result::{Diagnosis, Signal};

const TITLE: &str = "Signals over steps";
/// Height of one small chart, and of the legend.
const ROW: f64 = 112.0;
const LEGEND: f64 = 34.0;
/// Narrowest width of one small chart.
const NARROWEST: f64 = 190.0;
/// Points of a line at most.
const POINTS: usize = 240;
/// Small charts at most.
const MOST: usize = 24;

/// A panel for each signal.
pub fn draw(diagnosis: &Diagnosis) -> Drawn {
    let signals: Vec<&Signal> = diagnosis.signals.iter().filter(|s| s.points.len() > 1).take(MOST).collect();
    if signals.is_empty() {
        return Err(Missing::new(TITLE, "two steps or more"));
    }
    let rows: Vec<(&str, i64, f64, Option<f64>)> = diagnosis
        .signals
        .iter()
        .flat_map(|signal| signal.points.iter().map(|p| (signal.name.as_str(), p.0, p.1, p.2)))
        .collect();
    let table = Columns::of(&rows)
        .text("signal", |r| r.0)
        .int("step", |r| r.1)
        .float("value", |r| r.2)
        .float("standard_error", |r| r.3)
        .frame();
    Ok(Chart {
        name: "signals",
        title: TITLE.into(),
        reading: "Each signal on its own scale. A filled stretch is damage: a loss that lasts to the end; a small triangle is the step by which half of a change for good was done: a jump’s first step, the middle of a slow drift.".into(),
        notes: vec![sentence(&diagnosis.statement)],
        scenes: Scenes::draw(|width| ink(&signals, diagnosis, width)),
        table,
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ink(signals: &[&Signal], diagnosis: &Diagnosis, width: u32) -> Scene {
    let columns = ((f64::from(width) - 16.0) / NARROWEST).floor().max(1.0) as usize;
    let rows = signals.len().div_ceil(columns);
    let mut canvas = Canvas::new(width, (LEGEND + ROW * rows as f64) as u32 + 8, TITLE);
    let line = Pen::new(Ink::Exploratory).width(1.8);
    let harm = Pen::new(Ink::Spurious).alpha(0.2);
    canvas.legend(&[
        Entry::new(Key::Line(line), "signal"),
        Entry::new(Key::Area(harm), "damage"),
        Entry::new(Key::Mark(Pen::new(Ink::Text), Mark::Up), "half of a change"),
    ]);
    let each = (canvas.width() - 16.0) / columns as f64;
    let steps = steps_of(signals);
    for (place, signal) in signals.iter().enumerate() {
        let (column, row) = ((place % columns) as f64, (place / columns) as f64);
        let top = canvas.top() + 6.0 + ROW * row;
        let left = 12.0 + each * column;
        let panel =
            Panel { rect: [left, top, left + each - 14.0, top + ROW - 14.0], line, harm, steps: &steps };
        small(&canvas, signal, diagnosis, &panel);
    }
    canvas.finish()
}

/// Every so many points, and the last one: it stands beside the drawing as a number. Not a number where the
/// signal has none at steps between two of them.
fn thinned(points: &[(i64, f64, Option<f64>)], stride: usize, steps: &[i64]) -> Vec<(f64, f64)> {
    let last = points.len().saturating_sub(1);
    let mut drawn = Vec::new();
    let mut left: Option<i64> = None;
    for (at, point) in points.iter().enumerate() {
        let is_next = |before: i64| {
            let from = steps.partition_point(|step| *step <= before);
            steps.get(from).is_none_or(|next| *next >= point.0)
        };
        if left.is_some_and(|before| !is_next(before)) {
            drawn.push((point.0 as f64, f64::NAN));
        }
        left = Some(point.0);
        if at % stride == 0 || at == last {
            drawn.push((point.0 as f64, point.1));
        }
    }
    drawn
}

/// The steps at which any signal has a value.
fn steps_of(signals: &[&Signal]) -> Vec<i64> {
    let steps = signals.iter().flat_map(|signal| signal.points.iter().map(|point| point.0));
    steps.collect::<BTreeSet<i64>>().into_iter().collect()
}

/// The steps of the run: panels are read one above the other, so a signal that ends early ends early in its own.
fn axis(steps: &[i64]) -> std::ops::Range<f64> {
    let [first, last] = [steps.first(), steps.last()].map(|step| step.map_or(0.0, |step| *step as f64));
    first..last.max(first + 1.0)
}

/// Where and with what a small chart is drawn.
struct Panel<'a> {
    rect: [f64; 4],
    line: Pen,
    harm: Pen,
    /// The steps of the run.
    steps: &'a [i64],
}

fn small(canvas: &Canvas, signal: &Signal, diagnosis: &Diagnosis, panel: &Panel<'_>) {
    let Panel { rect, line, harm, steps } = *panel;
    let stride = signal.points.len().div_ceil(POINTS).max(1);
    let points = thinned(&signal.points, stride, steps);
    let finite = || points.iter().map(|p| p.1).filter(|v| v.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let margin = ((high - low) * 0.08).max(1e-9 + 0.02 * high.abs());
    let x = axis(steps);
    let name = prose(signal.name.as_str()).replace('_', " ");
    canvas.text(&name, (rect[0], rect[1] + 8.0), Anchor::Left, Ink::Text);
    let ends = format!("{} → {}", number(points[0].1), number(points[points.len() - 1].1));
    // On a line of its own: names are as long as loggers make them.
    canvas.text(&ends, (rect[0], rect[1] + 24.0), Anchor::Left, Ink::Muted);
    let inner = [rect[0], rect[1] + 34.0, rect[2], rect[3]];
    let plot = Plot::bare(canvas, inner, x.clone(), low - margin..high + margin);
    for damage in diagnosis.damage.iter().filter(|d| d.signal == signal.name) {
        plot.bar((damage.from_step as f64, low - margin), (x.end, high + margin), harm);
    }
    canvas.line(&[(inner[0], inner[3]), (inner[2], inner[3])], Pen::new(Ink::Axis));
    plot.line(&points, line);
    alone(&points).for_each(|(x, y)| plot.mark(x, y, Mark::Dot, 1.6, line));
    for onset in diagnosis.onsets.iter().filter(|o| o.signal == signal.name) {
        let mark = if onset.direction == Direction::Up { Mark::Up } else { Mark::Down };
        plot.mark(onset.step as f64, low - margin, mark, 3.5, Pen::new(Ink::Text));
    }
}

/// Points without a neighbour to draw a line to.
fn alone(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let broken = |at: Option<usize>| at.and_then(|at| points.get(at)).is_none_or(|point| point.1.is_nan());
    let is_alone = move |at: &usize| broken(at.checked_sub(1)) && broken(Some(at + 1));
    (0..points.len()).filter(is_alone).map(|at| points[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_result::SignalName;

    #[test]
    fn panels_share_the_steps_of_the_run() {
        let signal = |steps: &[i64]| Signal {
            name: SignalName::Reward,
            points: steps.iter().map(|step| (*step, 1.0, None)).collect(),
            range: None,
        };
        let (whole, short) = (signal(&[0, 10, 29]), signal(&[3, 21]));
        assert_eq!(axis(&steps_of(&[&whole, &short])), 0.0..29.0);
        assert_eq!(axis(&steps_of(&[&signal(&[4])])), 4.0..5.0);
    }

    #[test]
    fn the_last_point_is_drawn_however_many_there_are() {
        let points: Vec<(i64, f64, Option<f64>)> = (0..1_000).map(|i| (i, i as f64, None)).collect();
        let steps: Vec<i64> = (0..1_000).collect();
        let drawn = thinned(&points, 5, &steps);
        assert_eq!((drawn[0], drawn[drawn.len() - 1], drawn.len()), ((0.0, 0.0), (999.0, 999.0), 201));
        assert_eq!(thinned(&points[..3], 1, &steps).len(), 3);
    }

    #[test]
    fn a_line_is_broken_over_steps_without_a_value() {
        let points = [(0, 1.0, None), (2, 2.0, None), (6, 3.0, None)];
        let drawn = thinned(&points, 1, &[0, 2, 4, 6]);
        assert_eq!((drawn.len(), drawn[1], drawn[3]), (4, (2.0, 2.0), (6.0, 3.0)));
        assert!(drawn[2].1.is_nan());
        assert_eq!(alone(&drawn).collect::<Vec<_>>(), [(6.0, 3.0)]);
    }
}
