//! Reward against the stability of the entropy: a mark a step, and one for the run.

use super::series::{largest, smallest};
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::candidates::thinned;
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::format::number;
use stapo_base::tables::{Columns, DataFrame};
use stapo_result::RunAnalysis;

const TITLE: &str = "Reward against entropy stability";
/// Marks that are drawn at most.
const MARKS: usize = 300;

/// A mark for each step, and one for the run.
#[allow(clippy::cast_precision_loss)]
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let known: Vec<(i64, f64, f64)> = analysis
        .steps
        .iter()
        .filter_map(|s| Some((s.step, s.mean_entropy.filter(|h| *h > 0.0)?, s.mean_reward?)))
        .collect();
    if known.len() < 2 {
        return Err(Missing::new(TITLE, "the columns `reward` and `entropy` at two steps or more"));
    }
    let start = known[0].1;
    let points: Vec<(i64, f64, f64)> =
        known.iter().map(|(s, h, r)| (*s, (h / start).ln().abs(), *r)).collect();
    let n = points.len() as f64;
    let run = (points.iter().map(|p| p.1).sum::<f64>() / n, points.iter().map(|p| p.2).sum::<f64>() / n);
    Ok(Chart {
        name: "reward_stability",
        title: TITLE.into(),
        reading: "Up is better, left is steadier: a run that gains reward while it drifts far to the right pays for it with its entropy.".into(),
        notes: vec![format!(
            "The run's mark: distance {}, reward {}. One run: it says how this run went, not how its method does.",
            number(run.0),
            number(run.1)
        )],
        scenes: Scenes::draw(|width| ink(&points, run, width)),
        table: table(&points),
    })
}

/// A step, its distance and its reward.
type Point = (i64, f64, f64);

fn ink(points: &[Point], run: (f64, f64), width: u32) -> Scene {
    let step_pen = Pen::new(Ink::Exploratory);
    let path = Pen::new(Ink::Neutral).alpha(0.7);
    let run_pen = Pen::new(Ink::Spurious);
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    canvas.legend(&[
        Entry::new(Key::Marked(step_pen, Mark::Ring), "a step (joined in order)"),
        Entry::new(Key::Mark(run_pen, Mark::Diamond), "the run, mean of its steps"),
    ]);
    let widest = largest(points.iter().map(|p| p.1)).unwrap_or(1.0).max(0.05) * 1.08;
    let (low, high) = (
        smallest(points.iter().map(|p| p.2)).unwrap_or(0.0),
        largest(points.iter().map(|p| p.2)).unwrap_or(1.0),
    );
    let margin = ((high - low) * 0.12).max(0.01);
    let x = Axis::new(
        "distance of the mean entropy from its first value, |ln(H / H₀)|",
        -widest * 0.03..widest,
        ticks::linear(0.0, widest, 7),
    );
    let y =
        Axis::new("mean reward", low - margin..high + margin, ticks::linear(low - margin, high + margin, 6));
    let plot = Plot::new(&canvas, &x, &y);
    let drawn = thinned(points, MARKS);
    plot.line(&drawn.iter().map(|p| (p.1, p.2)).collect::<Vec<_>>(), path);
    for (_, x, y) in &drawn {
        plot.mark(*x, *y, Mark::Ring, 3.6, step_pen);
    }
    for point in [points.first(), points.last()].into_iter().flatten() {
        let (px, py) = plot.pixel(point.1, point.2);
        let (anchor, shift) =
            if px > canvas.width() * 0.8 { (Anchor::Right, 6.0) } else { (Anchor::Left, 9.0) };
        canvas.text(&format!("step {}", point.0), (px + shift, py + 15.0), anchor, Ink::Text);
    }
    plot.mark(run.0, run.1, Mark::Diamond, 6.0, run_pen);
    canvas.finish()
}

fn table(points: &[Point]) -> DataFrame {
    Columns::of(points)
        .int("step", |p| p.0)
        .float("log_entropy_distance", |p| p.1)
        .float("mean_reward", |p| p.2)
        .frame()
}
