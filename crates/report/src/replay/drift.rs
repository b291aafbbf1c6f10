//! How far the replayed policy is from the one that wrote each step.

use super::series::{arms_of, pen, spread};
use crate::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::tables::select;
use stapo_framework::rules::Rule;
use stapo_result::replay::ReplayResult;

const TITLE: &str = "Drift from the logged policy";
/// What of the table of steps is behind the chart.
const COLUMNS: [&str; 6] = ["objective", "seed", "step", "drift", "measured_responses", "old"];

/// A line for each objective, and the limit.
pub fn draw(result: &ReplayResult) -> Drawn {
    let lines: Vec<Line> =
        result.summary.iter().map(|row| (row.objective.name(), points(result, row.objective))).collect();
    let all = || lines.iter().flat_map(|l| &l.1);
    if all().next().is_none() {
        return Err(Missing::new(TITLE, "the column `logprob`"));
    }
    if lines.iter().all(|l| l.1.len() < 2) {
        return Err(Missing::new(TITLE, "more than one step; the drift of this one is in the tables"));
    }
    let sampled = result.arms.iter().flat_map(|a| &a.steps).any(|s| s.measured_responses < s.responses);
    let mut notes = vec!["Before the first update of each step.".to_owned()];
    if sampled {
        notes.push("Measured on 128 evenly spaced responses of a step.".into());
    }
    Ok(Chart {
        name: "replay_drift",
        title: TITLE.into(),
        reading: "A replay trains on responses that another policy drew. The higher the line, the less these responses are its own, and the less its numbers say about a live run.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(&lines, result.training.drift_limit, width)),
        table: select(&result.steps_frame(), &COLUMNS),
    })
}

/// An objective and its drift by step.
type Line<'a> = (&'a str, Vec<(f64, f64)>);

fn ink(lines: &[Line<'_>], drift_limit: f64, width: u32) -> Scene {
    let all = || lines.iter().flat_map(|l| &l.1);
    let high = all().map(|p| p.1).fold(drift_limit, f64::max).max(1e-6) * 1.08;
    let (first, last) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let side = ((last - first) * 0.02).max(0.5);
    let x = Axis::new("training step of the log", first - side..last + side, ticks::whole(first, last, 8));
    let y = Axis::new("mean |ln ρ|", 0.0..high, ticks::linear(0.0, high, 6));
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    let mut legend: Vec<Entry> = Vec::new();
    for (place, (name, _)) in lines.iter().enumerate() {
        let (pen, mark) = pen(place);
        legend.push(Entry::new(Key::Marked(pen, mark), *name));
    }
    let limit = Pen::new(Ink::Muted).dash(Dash::Short);
    legend.push(Entry::new(Key::Line(limit), "where auto recomputes"));
    canvas.legend(&legend);
    let plot = Plot::new(&canvas, &x, &y);
    plot.level(drift_limit, limit);
    for (place, (_, points)) in lines.iter().enumerate() {
        let (pen, mark) = pen(place);
        plot.line(points, pen);
        if points.len() <= 40 {
            points.iter().for_each(|(x, y)| plot.mark(*x, *y, mark, 3.4, pen));
        }
    }
    canvas.finish()
}

/// Mean over seeds, by step.
fn points(result: &ReplayResult, objective: Rule) -> Vec<(f64, f64)> {
    let arms = arms_of(result, objective);
    let count = arms.iter().map(|a| a.steps.len()).max().unwrap_or(0);
    let point = |place: usize| {
        let step = arms.iter().find_map(|a| a.steps.get(place)).map(|s| s.step as f64)?;
        let values: Vec<f64> = arms.iter().filter_map(|a| a.steps.get(place)?.drift).collect();
        spread(step, &values).map(|p| (p.0, p.1))
    };
    (0..count).filter_map(point).collect()
}
