//! Other ways to choose as many candidates.

use std::collections::BTreeMap;

use super::series::largest;
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::analyze::RunAnalysis;
use crate::analyze::result::{Strategy, StrategyRow};
use crate::report::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use crate::report::numbers::amount;
use crate::tables::{Columns, DataFrame};

const TITLE: &str = "Masking strategies";

/// A line for each way to choose, over sizes of the mask.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let rows: Vec<&StrategyRow> = analysis.strategies.iter().filter(|r| r.energy_share.is_some()).collect();
    let chosen = rows.iter().filter(|r| r.strategy != Strategy::ProbabilityOnly);
    let top = largest(chosen.filter_map(|r| r.energy_share)).unwrap_or(0.0);
    if top <= 0.0 {
        return Err(Missing::new(TITLE, "rare tokens with A > 0"));
    }
    let mut notes = vec![
        "What the masks remove from this log, not how a run trained with them would have gone.".to_owned(),
    ];
    if analysis.strategies.iter().any(|r| !r.exact) {
        notes.push("Estimated: rare tokens were sampled.".into());
    }
    Ok(Chart {
        name: "strategies",
        title: TITLE.into(),
        reading: "Masks of equal size, chosen in three ways: where the lines lie together, entropy says nothing about how hard the candidates pull; horizontal lines mask without a choice (one far above is only in the legend).".into(),
        notes,
        scenes: Scenes::draw(|width| ink(&rows, top, width)),
        table: table(analysis),
    })
}

fn ink(rows: &[&StrategyRow], top: f64, width: u32) -> Scene {
    let mut lines: BTreeMap<Strategy, Vec<(f64, f64)>> = BTreeMap::new();
    let mut levels = Vec::new();
    for row in rows {
        let share = row.energy_share.unwrap_or(0.0) * 100.0;
        match row.quantile {
            Some(q) => lines.entry(row.strategy).or_default().push((q, share)),
            None => levels.push((row, share)),
        }
    }
    let mut legend = Vec::new();
    for strategy in lines.keys() {
        let (pen, mark, text) = look(*strategy);
        legend.push(Entry::new(Key::Marked(pen, mark), text));
    }
    let level_pen = |index: usize| {
        Pen::new(Ink::Muted).width(1.6).dash(if index == 0 { Dash::Dots } else { Dash::Short })
    };
    for (index, (row, share)) in levels.iter().enumerate() {
        let name =
            if row.strategy == Strategy::Fullmask { "all candidates" } else { "probability only, any sign" };
        let text = format!("{name}: {} tokens, {share:.2} %", amount(row.silenced.round()));
        legend.push(Entry::new(Key::Line(level_pen(index)), text));
    }
    let mut canvas = Canvas::new(width, HEIGHT + 20, TITLE);
    canvas.legend(&legend);
    // Masks that take far more would flatten the rest; the legend has their number.
    let tallest = levels.iter().map(|l| l.1).filter(|l| *l < top * 250.0).fold(top * 100.0, f64::max);
    let high = tallest * 1.08;
    let y = Axis::new("share of gradient energy silenced (%)", 0.0..high, ticks::linear(0.0, high, 6));
    let plot = Plot::new(
        &canvas,
        &Axis::new("share q of each batch's candidates", 0.0..1.02, ticks::linear(0.0, 1.0, 10)),
        &y,
    );
    for (index, (_, share)) in levels.iter().enumerate() {
        plot.level(*share, level_pen(index));
    }
    for (strategy, points) in &mut lines {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (pen, mark, _) = look(*strategy);
        plot.line(points, pen);
        points.iter().for_each(|(x, y)| plot.mark(*x, *y, mark, 4.0, pen));
    }
    canvas.finish()
}

fn table(analysis: &RunAnalysis) -> DataFrame {
    Columns::of(&analysis.strategies)
        .text("strategy", |r| r.strategy.name())
        .float("quantile", |r| r.quantile)
        .float("silenced", |r| r.silenced)
        .float("energy_share", |r| r.energy_share)
        .float("positive_energy_share", |r| r.positive_energy_share)
        .float("overlap", |r| r.overlap)
        .flag("exact", |r| r.exact)
        .frame()
}

fn look(strategy: Strategy) -> (Pen, Mark, &'static str) {
    match strategy {
        Strategy::LowEntropy => (Pen::new(Ink::Spurious).width(2.2), Mark::Diamond, "lowest entropy (S2T)"),
        Strategy::Random => {
            (Pen::new(Ink::Green).width(1.8).dash(Dash::Short), Mark::Ring, "random (expected)")
        }
        Strategy::HighEntropy => {
            (Pen::new(Ink::Exploratory).width(2.0).dash(Dash::Long), Mark::Up, "highest entropy")
        }
        _ => (Pen::new(Ink::Purple).width(1.8), Mark::Square, "other"),
    }
}
