//! Entropy against token quantile in the last third of each run.

use super::arms::{self, Line, chosen, summary};
use super::look::label;
use crate::compare::Comparison;
use crate::report::charts::series::largest;
use crate::report::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::report::draw::{Axis, Canvas, Entry, Key, Plot, Scene, Scenes, ticks};
use crate::tables::{Columns, DataFrame};

const TITLE: &str = "Entropy against token quantile";

/// A curve for each arm.
pub fn draw(comparison: &Comparison) -> Drawn {
    let lines = lines(comparison);
    if lines.is_empty() {
        return Err(Missing::new(TITLE, "the column `entropy`"));
    }
    Ok(Chart {
        name: "compare_quantiles",
        title: TITLE.into(),
        reading: "Where runs keep or lose their entropy late in training: lines that part only at the right differ in their few real choices, not in the many tokens that are nearly certain.".into(),
        notes: std::iter::once("The last third of the logged steps of each run.".to_owned())
            .chain(arms::notes(comparison))
            .collect(),
        scenes: Scenes::draw(|width| ink(&lines, width)),
        table: table(&comparison.profiles),
    })
}

/// A run and its entropies by quantile.
type Profile = (String, Vec<f64>);

/// The line of each arm that has profiles: percent of the tokens, entropy.
fn lines(comparison: &Comparison) -> Vec<Line> {
    let of_arm = |chosen: arms::Chosen<'_>| {
        let is_of = |p: &&Profile| chosen.arm.runs.contains(&p.0) && p.1.len() > 1;
        let runs: Vec<&Vec<f64>> = comparison.profiles.iter().filter(is_of).map(|p| &p.1).collect();
        let places = runs.iter().map(|run| run.len()).min()?;
        let at = |place: usize| summary(&runs.iter().map(|run| run[place]).collect::<Vec<_>>());
        let points = (0..places).map(|place| (100.0 * place as f64 / (places - 1) as f64, at(place)));
        Some(Line {
            label: label(&chosen.arm.name),
            pen: chosen.pen,
            mark: chosen.mark,
            points: points.collect(),
            is_mean: runs.len() > 1,
        })
    };
    chosen(comparison).into_iter().filter_map(of_arm).collect()
}

fn ink(lines: &[Line], width: u32) -> Scene {
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    let key = |line: &Line| Entry::new(Key::Line(line.pen), line.label.as_str());
    canvas.legend(&lines.iter().map(key).collect::<Vec<_>>());
    let values = lines.iter().flat_map(|line| &line.points).flat_map(|p| p.1);
    let top = largest(values).unwrap_or(1.0).max(1e-6) * 1.03;
    let x =
        Axis::new("token quantile (%), tokens ordered by entropy", 0.0..100.0, ticks::linear(0.0, 100.0, 10));
    let plot = Plot::new(&canvas, &x, &Axis::new("entropy (nats)", 0.0..top, ticks::linear(0.0, top, 6)));
    for line in lines {
        line.draw_band(&plot);
        plot.line(&line.means(), line.pen);
    }
    canvas.finish()
}

fn table(profiles: &[Profile]) -> DataFrame {
    let place = |entropy: &[f64], i: usize| i as f64 / (entropy.len() - 1).max(1) as f64;
    let rows: Vec<_> = profiles
        .iter()
        .flat_map(|(name, entropy)| {
            entropy.iter().enumerate().map(move |(i, h)| (name.as_str(), place(entropy, i), *h))
        })
        .collect();
    Columns::of(&rows).text("run", |r| r.0).float("quantile", |r| r.1).float("entropy", |r| r.2).frame()
}
