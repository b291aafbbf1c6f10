//! Mean gradient norm per class.

use super::series::largest;
use super::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, font, ticks};
use stapo_base::format::{grouped as count, times};
use stapo_base::tables::select;
use stapo_framework::taxonomy::TokenClass;
use stapo_result::ClassRow;
use stapo_result::RunAnalysis;

const TITLE: &str = "Mean gradient norm per class";

/// A bar for each class.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let rows: Vec<&ClassRow> = analysis.taxonomy.iter().filter(|r| r.mean_norm.is_some()).collect();
    if rows.is_empty() {
        return Err(Missing::new(TITLE, "tokens with an advantage other than 0"));
    }
    let estimated = analysis.totals.gradient_source.is_estimated();
    let source = &analysis.totals.gradient_source;
    Ok(Chart {
        name: "class_norm",
        title: TITLE.into(),
        reading: "How hard a token of each class pulls on the logits; the factor compares it with the mean over all tokens that have a gradient.".into(),
        notes: vec![format!(
            "Norms are {source}; n is the number of tokens that the mean was taken over. Low p is p < τₚ, low H is H < τₕ of the batch."
        )],
        scenes: Scenes::draw(|width| ink(&rows, estimated, width)),
        table: select(&analysis.taxonomy_frame(), &COLUMNS),
    })
}

fn ink(rows: &[&ClassRow], estimated: bool, width: u32) -> Scene {
    let top = largest(rows.iter().filter_map(|r| r.mean_norm_high.or(r.mean_norm))).unwrap_or(1.0);
    let row_height = 35.0;
    let mut canvas = Canvas::new(width, 84 + 35 * rows.len() as u32, TITLE);
    let mut legend = vec![
        Entry::new(Key::Area(Pen::new(Ink::Spurious)), "spurious"),
        Entry::new(Key::Area(Pen::new(Ink::Exploratory)), "exploratory"),
        Entry::new(Key::Area(Pen::new(Ink::Neutral)), "other classes"),
    ];
    if estimated {
        legend.push(Entry::new(Key::Line(Pen::new(Ink::Text).width(1.6)), "interval of the estimate"));
    }
    canvas.legend(&legend);
    let label_width = rows.iter().map(|r| font::width(&r.label, 12.0, false)).fold(0.0, f64::max);
    let ratio = |row: &ClassRow| row.norm_ratio.map_or(String::new(), |r| format!("{} mean", times(r)));
    // Readers' fonts may be wider than ours.
    let ratio_width = rows.iter().map(|r| 1.2 * font::width(&ratio(r), 12.0, true)).fold(92.0, f64::max);
    let right = canvas.width() - ratio_width - 12.0;
    let rect = [26.0 + label_width, canvas.top() + 4.0, right, canvas.height() - 46.0];
    let axis = Axis::new("", 0.0..top * 1.04, ticks::linear(0.0, top * 1.04, width as usize / 100));
    let vertical = Axis::new("", 0.0..rows.len() as f64, Vec::new());
    let plot = Plot::inside(&canvas, rect, &axis, &vertical);
    canvas.x_label("mean ‖g‖ with respect to the logits (tokens with w ≠ 0)", (rect[0] + rect[2]) / 2.0);
    for (index, row) in rows.iter().enumerate() {
        let y = rows.len() as f64 - index as f64 - 0.5;
        let norm = row.mean_norm.unwrap_or(0.0);
        let middle = plot.pixel(0.0, y).1;
        plot.bar((0.0, y - 0.32), (norm, y + 0.32), Pen::new(ink_of(row)));
        let (low, high) = (row.mean_norm_low.unwrap_or(norm), row.mean_norm_high.unwrap_or(norm));
        if high > low {
            let pen = Pen::new(Ink::Text).width(1.6);
            plot.line(&[(low, y), (high, y)], pen);
            for end in [low, high] {
                plot.line(&[(end, y - 0.14), (end, y + 0.14)], pen);
            }
        }
        canvas.text(&row.label, (rect[0] - 8.0, middle), Anchor::Right, Ink::Text);
        canvas.strong(&ratio(row), (rect[2] + 8.0, middle - row_height * 0.19), Anchor::Left, Ink::Text);
        let sample = format!("n = {}", count(row.norm_sample));
        canvas.text(&sample, (rect[2] + 8.0, middle + row_height * 0.23), Anchor::Left, Ink::Muted);
    }
    canvas.finish()
}

fn ink_of(row: &ClassRow) -> Ink {
    match row.class {
        TokenClass::PositiveLowPLowH => Ink::Spurious,
        TokenClass::PositiveLowPHighH => Ink::Exploratory,
        _ => Ink::Neutral,
    }
}

/// The columns that the chart's reader may want.
const COLUMNS: [&str; 13] = [
    "class",
    "tokens",
    "token_share",
    "energy",
    "energy_share",
    "mean_norm",
    "mean_norm_low",
    "mean_norm_high",
    "norm_sample",
    "norm_ratio",
    "entropy_up",
    "entropy_down",
    "entropy_ambiguous",
];
