//! Entropy against token quantile in the last third of each run.

use super::{label, left_out, look};
use crate::compare::Comparison;
use crate::report::charts::series::largest;
use crate::report::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::report::draw::{Axis, Canvas, Entry, Key, Plot, Scene, Scenes, ticks};
use crate::tables::{Columns, DataFrame};

const TITLE: &str = "Entropy against token quantile";

/// Draws it.
pub fn draw(comparison: &Comparison) -> Drawn {
    let profiles: Vec<&Profile> =
        comparison.profiles.iter().filter(|p| p.1.len() > 1).take(super::RUNS).collect();
    if profiles.is_empty() {
        return Err(Missing::new(TITLE, "the column `entropy`"));
    }
    Ok(Chart {
        name: "compare_quantiles",
        title: TITLE.into(),
        reading: "Where runs keep or lose their entropy late in training: lines that part only at the right differ in their few real choices, not in the many tokens that are nearly certain.".into(),
        notes: std::iter::once("The last third of the logged steps of each run.".to_owned())
            .chain(left_out(comparison.runs.len()))
            .collect(),
        scenes: Scenes::draw(|width| ink(comparison, &profiles, width)),
        table: table(&profiles),
    })
}

/// A run and its entropies by quantile.
type Profile = (String, Vec<f64>);

/// Percent of the tokens, entropy.
fn points(entropy: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let last = (entropy.len() - 1) as f64;
    entropy.iter().enumerate().map(move |(i, h)| (100.0 * i as f64 / last, *h))
}

fn ink(comparison: &Comparison, profiles: &[&Profile], width: u32) -> Scene {
    let pen = |name: &str| look(comparison.runs.iter().position(|r| r.name == name).unwrap_or(0)).0;
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    let legend: Vec<Entry> =
        profiles.iter().map(|(name, _)| Entry::new(Key::Line(pen(name)), label(name))).collect();
    canvas.legend(&legend);
    let top = largest(profiles.iter().flat_map(|p| p.1.iter().copied())).unwrap_or(1.0).max(1e-6) * 1.03;
    let x =
        Axis::new("token quantile (%), tokens ordered by entropy", 0.0..100.0, ticks::linear(0.0, 100.0, 10));
    let plot = Plot::new(&canvas, &x, &Axis::new("entropy (nats)", 0.0..top, ticks::linear(0.0, top, 6)));
    for (name, entropy) in profiles {
        plot.line(&points(entropy).collect::<Vec<_>>(), pen(name));
    }
    canvas.finish()
}

fn table(profiles: &[&Profile]) -> DataFrame {
    let rows: Vec<_> = profiles
        .iter()
        .flat_map(|(name, entropy)| points(entropy).map(move |(x, h)| (name.as_str(), x / 100.0, h)))
        .collect();
    Columns::of(&rows).text("run", |r| r.0).float("quantile", |r| r.1).float("entropy", |r| r.2).frame()
}
