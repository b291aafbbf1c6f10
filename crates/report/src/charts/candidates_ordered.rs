//! Candidates ordered by entropy inside of their batch, with the cut.

use super::series::largest;
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::candidates::{by_batch, thinned};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::format::grouped as count;
use stapo_base::tables::Columns;
use stapo_framework::s2t::Population;
use stapo_result::RunAnalysis;

const TITLE: &str = "Candidates ordered by entropy";
/// Marks that are drawn at most.
const MARKS: usize = 700;

/// A mark for each candidate at its place, and the cut.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for ((step, update), mut batch) in by_batch(analysis) {
        batch.sort_by(|a, b| a.0.entropy.total_cmp(&b.0.entropy));
        let last = (batch.len() - 1).max(1) as f64;
        for (rank, (point, silenced)) in batch.iter().enumerate() {
            let place = if batch.len() == 1 { 0.5 } else { rank as f64 / last };
            points.push((place * 100.0, f64::from(point.entropy), *silenced));
            rows.push((step, update, place, *point, *silenced));
        }
    }
    let table = Columns::of(&rows)
        .int("step", |r| r.0)
        .int("update", |r| r.1)
        .float("rank_in_batch", |r| r.2)
        .single("entropy", |r| r.3.entropy)
        .single("logprob", |r| r.3.logprob)
        .single("advantage", |r| r.3.advantage)
        .flag("silenced", |r| r.4)
        .frame();
    if points.is_empty() {
        return Err(Missing::new(
            TITLE,
            "candidates (A > 0 and p < τₚ); this run has none, or their list is not kept",
        ));
    }
    let quantile =
        analysis.s2t.entropy_quantile.filter(|_| analysis.s2t.population == Population::Candidates);
    let drawn = thinned(&points, MARKS);
    let total = count(points.len() as u64);
    let mut notes = vec![format!("{total} candidates; every batch has a threshold of its own.")];
    if drawn.len() < points.len() {
        notes.push(format!("{} of them are drawn, evenly spread.", count(drawn.len() as u64)));
    }
    Ok(Chart {
        name: "candidates_ordered",
        title: TITLE.into(),
        reading: "Every rare token with A > 0 at its place in its batch: those left of the cut are silenced; a clear step at the cut means that the two kinds are really apart, a smooth slope that the cut is arbitrary.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(&drawn, quantile, width)),
        table,
    })
}

/// Place in the batch in percent, entropy, whether silenced.
type Point = (f64, f64, bool);

fn ink(drawn: &[Point], quantile: Option<f64>, width: u32) -> Scene {
    let cut = Pen::new(Ink::Text).dash(Dash::Long).width(1.3);
    let (spurious, exploratory) = (Pen::new(Ink::Spurious), Pen::new(Ink::Exploratory));
    let mut legend = vec![
        Entry::new(Key::Mark(spurious, Mark::Diamond), "spurious (H < τₕ)"),
        Entry::new(Key::Mark(exploratory, Mark::Ring), "exploratory (H ≥ τₕ)"),
    ];
    if let Some(q) = quantile {
        legend.push(Entry::new(Key::Line(cut), format!("cut at the {q} quantile of the batch")));
    }
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    canvas.legend(&legend);
    let top = largest(drawn.iter().map(|p| p.1)).unwrap_or(1.0).max(1e-3) * 1.05;
    let x =
        Axis::new("place inside of its batch, by entropy (%)", -1.5..101.5, ticks::linear(0.0, 100.0, 10));
    let plot = Plot::new(&canvas, &x, &Axis::new("entropy H (nats)", 0.0..top, ticks::linear(0.0, top, 6)));
    if let Some(q) = quantile {
        plot.upright(q * 100.0, cut);
    }
    for (x, y, silenced) in drawn {
        let (mark, pen) = if *silenced { (Mark::Diamond, spurious) } else { (Mark::Ring, exploratory) };
        plot.mark(*x, *y, mark, 3.2, pen.alpha(0.85));
    }
    canvas.finish()
}
