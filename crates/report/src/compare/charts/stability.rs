//! Reward against the stability of the entropy: a mark a run.

use super::arms::{Chosen, chosen, left_out};
use super::look::label;
use crate::charts::series::{largest, smallest};
use crate::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Entry, Key, Plot, Scene, Scenes, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_compare::Comparison;

const TITLE: &str = "Reward against entropy stability";

/// A mark for each run.
pub fn draw(comparison: &Comparison) -> Drawn {
    let arms = chosen(comparison).into_iter().map(|of| (of, points(comparison, &of)));
    let known: Vec<Marks<'_>> = arms.filter(|(_, runs)| !runs.is_empty()).collect();
    if known.is_empty() {
        return Err(Missing::new(TITLE, "the columns `reward` and `entropy` at three steps or more"));
    }
    let mut notes = vec![
        "Spread: each step’s mean entropy against the line through its two neighbours, so a steady trend does not count.".to_owned(),
    ];
    notes.extend(left_out(comparison));
    Ok(Chart {
        name: "compare_stability",
        title: TITLE.into(),
        reading: "Up is better, left is steadier. One mark is one run: marks of one method from several seeds show how far chance alone moves them.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(&known, width)),
        table: table(comparison),
    })
}

/// An arm and of each of its runs the spread and the late reward.
type Marks<'a> = (Chosen<'a>, Vec<(f64, f64)>);

fn points(comparison: &Comparison, of: &Chosen<'_>) -> Vec<(f64, f64)> {
    let runs = comparison.runs.iter().filter(|run| run.arm == of.arm.name);
    runs.filter_map(|run| Some((run.stability.spread?, run.stability.late_reward?))).collect()
}

fn ink(known: &[Marks<'_>], width: u32) -> Scene {
    let all = || known.iter().flat_map(|(_, runs)| runs.iter().copied());
    let wide = largest(all().map(|p| p.0)).unwrap_or(1.0).max(1e-6) * 1.1;
    let (low, high) =
        (smallest(all().map(|p| p.1)).unwrap_or(0.0), largest(all().map(|p| p.1)).unwrap_or(1.0));
    let margin = ((high - low) * 0.3).max(0.02 * high.abs()).max(1e-6);
    let mut canvas = Canvas::new(width, HEIGHT - 60, TITLE);
    let key = |(of, _): &Marks<'_>| Entry::new(Key::Mark(of.pen, of.mark), label(&of.arm.name));
    canvas.legend(&known.iter().map(key).collect::<Vec<_>>());
    let x =
        Axis::new("spread of the entropy about its own trend (nats)", 0.0..wide, ticks::linear(0.0, wide, 6));
    let y = Axis::new(
        "mean reward, last third of steps",
        low - margin..high + margin,
        ticks::linear(low - margin, high + margin, 5),
    );
    let plot = Plot::new(&canvas, &x, &y);
    for (of, runs) in known {
        for (spread, reward) in runs {
            plot.mark(*spread, *reward, of.mark, 7.0, of.pen);
        }
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
