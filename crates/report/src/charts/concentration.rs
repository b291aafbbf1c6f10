//! How few tokens carry the energy: share of energy against share of tokens, largest first.

use super::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::format::number;
use stapo_base::tables::Columns;
use stapo_result::Drivers;
use stapo_result::RunAnalysis;

const TITLE: &str = "How few tokens carry the gradient energy";

/// A curve of cumulated energy, and the effective number.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let drivers = &analysis.drivers;
    if drivers.curve.is_empty() {
        return Err(Missing::new(TITLE, "tokens with an advantage"));
    }
    let exact = drivers.concentration.shares.is_some_and(|shares| shares.exact);
    Ok(Chart {
        name: "concentration",
        title: TITLE.into(),
        reading: "The largest tokens first: the higher the line starts, the fewer tokens decide the update. The upright line is the effective number of tokens, (Σ‖g‖²)²/Σ‖g‖⁴.".into(),
        notes: if exact { Vec::new() } else { vec!["Shares are read off a ladder of sizes (rungs of 6 %).".into()] },
        scenes: Scenes::draw(|width| ink(drivers, width)),
        table: Columns::of(&drivers.curve)
            .float("share_of_tokens", |p| p.0)
            .float("share_of_energy", |p| p.1)
            .frame(),
    })
}

fn ink(drivers: &Drivers, width: u32) -> Scene {
    let log = |p: &(f64, f64)| (p.0.log10(), p.1.max(1e-6).log10());
    let points: Vec<(f64, f64)> = drivers.curve.iter().map(log).collect();
    let left = points.first().map_or(-4.0, |p| p.0);
    let low = points.iter().map(|p| p.1).fold(-1.0, f64::min).floor();
    let line = Pen::new(Ink::Spurious).width(2.2);
    let even = Pen::new(Ink::Muted).dash(Dash::Short).width(1.4);
    let upright = Pen::new(Ink::Exploratory).dash(Dash::Long).width(1.6);
    let mut legend = vec![
        Entry::new(Key::Line(line), "share of the energy"),
        Entry::new(Key::Line(even), "if all tokens were equal"),
    ];
    let tokens = drivers.concentration.tokens.max(1) as f64;
    let effective = drivers.concentration.effective_number;
    if let Some(effective) = effective {
        legend.push(Entry::new(Key::Line(upright), format!("effective number: {}", number(effective))));
    }
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    canvas.legend(&legend);
    let (x0, x1) = (left - 0.1, 0.05);
    let x = Axis::new("share of trained tokens (log)", x0..x1, ticks::decades(x0, x1, 7));
    let y = Axis::new("share of the energy (log)", low..0.05, ticks::decades(low, 0.05, 6));
    let plot = Plot::new(&canvas, &x, &y);
    plot.line(&[(low.max(x0), low.max(x0)), (0.0, 0.0)], even);
    if let Some(effective) = effective {
        plot.upright((effective / tokens).log10(), upright);
    }
    plot.line(&points, line);
    if let Some(first) = points.first() {
        plot.mark(first.0, first.1, Mark::Diamond, 4.0, line);
    }
    canvas.finish()
}
