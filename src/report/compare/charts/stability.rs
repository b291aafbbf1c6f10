//! Reward against the stability of the entropy: a mark a run.

use super::{label, left_out, look};
use crate::compare::Comparison;
use crate::report::charts::series::{largest, smallest};
use crate::report::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::report::draw::{Anchor, Axis, Canvas, Ink, Plot, Scene, Scenes, ticks};
use crate::tables::{Columns, DataFrame};

const TITLE: &str = "Reward against entropy stability";

/// Draws it.
pub fn draw(comparison: &Comparison) -> Drawn {
    let known: Vec<Point> = comparison
        .runs
        .iter()
        .enumerate()
        .filter_map(|(i, run)| Some((i, run.stability.spread?, run.stability.late_reward?)))
        .collect();
    if known.is_empty() {
        return Err(Missing::new(TITLE, "the columns `reward` and `entropy` at three steps or more"));
    }
    let mut notes = vec![
        "Spread: each step’s mean entropy against the line through its two neighbours, so a steady trend does not count.".to_owned(),
    ];
    notes.extend(left_out(comparison.runs.len()));
    Ok(Chart {
        name: "compare_stability",
        title: TITLE.into(),
        reading: "Up is better, left is steadier. One mark is one run: marks of one method from several seeds show how far chance alone moves them.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(comparison, &known, width)),
        table: table(comparison),
    })
}

/// A run, its spread and its late reward.
type Point = (usize, f64, f64);

fn ink(comparison: &Comparison, known: &[Point], width: u32) -> Scene {
    let wide = largest(known.iter().map(|k| k.1)).unwrap_or(1.0).max(1e-6) * 1.35;
    let (low, high) = (
        smallest(known.iter().map(|k| k.2)).unwrap_or(0.0),
        largest(known.iter().map(|k| k.2)).unwrap_or(1.0),
    );
    let margin = ((high - low) * 0.6).max(0.02 * high.abs()).max(1e-6);
    let canvas = Canvas::new(width, HEIGHT - 60, TITLE);
    let x =
        Axis::new("spread of the entropy about its own trend (nats)", 0.0..wide, ticks::linear(0.0, wide, 6));
    let y = Axis::new(
        "mean reward, last third of steps",
        low - margin..high + margin,
        ticks::linear(low - margin, high + margin, 5),
    );
    let plot = Plot::new(&canvas, &x, &y);
    for (index, spread, reward) in known.iter().take(super::RUNS) {
        let (pen, mark) = look(*index);
        plot.mark(*spread, *reward, mark, 7.0, pen);
        let (px, py) = plot.pixel(*spread, *reward);
        let (anchor, shift) =
            if px > canvas.width() * 0.75 { (Anchor::Right, -13.0) } else { (Anchor::Left, 13.0) };
        canvas.strong(&label(&comparison.runs[*index].name), (px + shift, py), anchor, Ink::Text);
    }
    canvas.finish()
}

fn table(comparison: &Comparison) -> DataFrame {
    Columns::of(&comparison.runs)
        .text("run", |r| &r.name)
        .float("spread", |r| r.stability.spread)
        .float("drawdown", |r| r.stability.drawdown)
        .float("run_up", |r| r.stability.run_up)
        .float("slope_per_100_steps", |r| r.stability.slope_per_100_steps)
        .int("collapse_step", |r| r.stability.collapse_step)
        .float("late_reward", |r| r.stability.late_reward)
        .frame()
}
