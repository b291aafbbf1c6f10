//! Entropy against token quantile in the last third of each run.

use super::{label, left_out, look};
use crate::compare::Comparison;
use crate::report::charts::series::largest;
use crate::report::charts::{Chart, Drawn, HEIGHT, Missing, WIDTH};
use crate::report::csv::{Cell, Table};
use crate::report::draw::{Axis, Canvas, Entry, Key, Plot, ticks};

const TITLE: &str = "Entropy against token quantile";

/// Draws it.
pub fn draw(comparison: &Comparison) -> Drawn {
    let profiles: Vec<&(String, Vec<f64>)> =
        comparison.profiles.iter().filter(|p| p.1.len() > 1).take(super::RUNS).collect();
    if profiles.is_empty() {
        return Err(Missing::new(TITLE, "the column `entropy`"));
    }
    let run = |name: &str| comparison.runs.iter().position(|r| r.name == name).unwrap_or(0);
    let mut canvas = Canvas::new(WIDTH, HEIGHT, TITLE);
    let legend: Vec<Entry> =
        profiles.iter().map(|(name, _)| Entry::new(Key::Line(look(run(name)).0), label(name))).collect();
    canvas.legend(&legend);
    let top = largest(profiles.iter().flat_map(|p| p.1.iter().copied())).unwrap_or(1.0).max(1e-6) * 1.03;
    let x =
        Axis::new("token quantile (%), tokens ordered by entropy", 0.0..100.0, ticks::linear(0.0, 100.0, 10));
    let plot = Plot::new(&canvas, &x, &Axis::new("entropy (nats)", 0.0..top, ticks::linear(0.0, top, 6)));
    let mut table = Table::new(&["run", "quantile", "entropy"]);
    for (name, entropy) in profiles {
        let last = (entropy.len() - 1) as f64;
        let points: Vec<(f64, f64)> =
            entropy.iter().enumerate().map(|(i, h)| (100.0 * i as f64 / last, *h)).collect();
        plot.line(&points, look(run(name)).0);
        for (x, h) in points {
            table.push([Cell::from(name.as_str()), (x / 100.0).into(), h.into()]);
        }
    }
    Ok(Chart {
        name: "compare_quantiles",
        title: TITLE.into(),
        reading: "Where runs keep or lose their entropy late in training: lines that part only at the right differ in their few real choices, not in the many tokens that are nearly certain.".into(),
        notes: std::iter::once("The last third of the logged steps of each run.".to_owned())
            .chain(left_out(comparison.runs.len()))
            .collect(),
        scene: canvas.finish(),
        table,
    })
}
