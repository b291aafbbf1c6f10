//! Predicted against measured entropy change.

use super::series::{largest, smallest};
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::format::{grouped as count, number};
use stapo_base::tables::{Columns, DataFrame};
use stapo_result::ChangeBin;
use stapo_result::RunAnalysis;

const TITLE: &str = "Entropy change, predicted and measured";

/// The measured change for each bin of the predicted one.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let measured = analysis.entropy_change.measured.as_ref().filter(|m| !m.bins.is_empty());
    let Some(measured) = measured else {
        return Err(Missing::new(TITLE, "the column `entropy_after` (the same tokens after the update)"));
    };
    let bins = &measured.bins;
    let mut notes = vec![format!(
        "{} tokens{}; rank correlation {} (unrelated values of this many tokens would stay within ±{}).",
        count(measured.tokens),
        if measured.complete { "" } else { " (a uniform sample)" },
        measured.spearman.map_or("unknown".into(), |r| format!("{r:.3}").replace('-', "−")),
        measured.standard_error.map_or("–".into(), |e| number(2.0 * e))
    )];
    notes.push(
        "The prediction is first order and of a token's own position; an update sums over many tokens."
            .into(),
    );
    Ok(Chart {
        name: "entropy_change",
        title: TITLE.into(),
        reading: "If single tokens decided their own entropy, marks would rise from below zero on the left to above zero on the right; a flat line says that the rest of the batch decides.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(bins, width)),
        table: table(bins),
    })
}

fn ink(bins: &[ChangeBin], width: u32) -> Scene {
    let quartile = Pen::new(Ink::Exploratory).alpha(0.55).width(3.0);
    let (mean, median) = (Pen::new(Ink::Spurious), Pen::new(Ink::Exploratory).width(1.6));
    let zero = Pen::new(Ink::Muted).dash(Dash::Dots).width(1.3);
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    canvas.legend(&[
        Entry::new(Key::Mark(mean, Mark::Diamond), "mean measured change"),
        Entry::new(Key::Mark(median, Mark::Ring), "median"),
        Entry::new(Key::Line(quartile), "25–75 %"),
        Entry::new(Key::Line(zero), "no change"),
    ]);
    let values =
        || bins.iter().flat_map(|b| [b.mean_measured, b.measured_quartiles[0], b.measured_quartiles[2], 0.0]);
    let (low, high) = (smallest(values()).unwrap_or(-1.0), largest(values()).unwrap_or(1.0));
    let margin = ((high - low) * 0.08).max(1e-6);
    let y = Axis::new(
        "measured H after − H before (nats)",
        low - margin..high + margin,
        ticks::linear(low - margin, high + margin, 6),
    );
    // Most predictions are near zero: equal groups side by side, with their means written below.
    let labels = (0..bins.len()).step_by(bins.len().div_ceil(width as usize / 70).max(1));
    let ticks = labels.map(|i| (i as f64 + 0.5, short(bins[i].mean_predicted))).collect();
    let x = Axis::new(
        "mean predicted change per unit of step size (nats), groups of equal size",
        0.0..bins.len() as f64,
        ticks,
    );
    let plot = Plot::new(&canvas, &x, &y);
    plot.level(0.0, zero);
    let split = bins.iter().filter(|b| b.mean_predicted < 0.0).count() as f64;
    if split > 0.0 && split < bins.len() as f64 {
        plot.upright(split, zero);
    }
    for (index, bin) in bins.iter().enumerate() {
        let x = index as f64 + 0.5;
        let [q25, q50, q75] = bin.measured_quartiles;
        plot.line(&[(x, q25), (x, q75)], quartile);
        plot.mark(x, q50, Mark::Ring, 3.6, median);
        plot.mark(x, bin.mean_measured, Mark::Diamond, 4.0, mean);
    }
    canvas.finish()
}

fn table(bins: &[ChangeBin]) -> DataFrame {
    Columns::of(bins)
        .float("predicted_from", |b| b.predicted_from)
        .float("predicted_to", |b| b.predicted_to)
        .count("tokens", |b| b.tokens)
        .float("mean_predicted", |b| b.mean_predicted)
        .float("mean_measured", |b| b.mean_measured)
        .float("measured_q25", |b| b.measured_quartiles[0])
        .float("measured_q50", |b| b.measured_quartiles[1])
        .float("measured_q75", |b| b.measured_quartiles[2])
        .frame()
}

/// Two digits.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if value.abs() < 0.001 {
        format!("{value:.0e}").replace('-', "−")
    } else {
        let decimals = if value.abs() < 0.1 { 3 } else { 2 };
        format!("{value:.decimals$}").replace('-', "−")
    }
}
