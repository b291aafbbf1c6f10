//! Entropy against token quantile, early, middle and late.

use super::series::largest;
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::analyze::RunAnalysis;
use crate::analyze::result::EntropyProfile;
use crate::report::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Pen, Plot, Scene, Scenes, ticks};
use crate::report::numbers::count;
use crate::tables::{Columns, DataFrame};

const TITLE: &str = "Entropy against token quantile";

/// A curve for each part of the run.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let profiles = &analysis.entropy_profiles;
    if profiles.iter().all(|p| p.entropy.is_empty()) {
        return Err(Missing::new(TITLE, "the column `entropy`"));
    }
    let sizes: Vec<_> = profiles.iter().map(|p| format!("{} {}", p.period, count(p.tokens))).collect();
    Ok(Chart {
        name: "entropy_quantile",
        title: TITLE.into(),
        reading: "Where the entropy sits: most tokens are nearly certain, and a late line that lies below the early one only at the right has lost its few real choices.".into(),
        notes: vec![format!("Tokens: {}.", sizes.join(", "))],
        scenes: Scenes::draw(|width| ink(profiles, width)),
        table: table(profiles),
    })
}

fn ink(profiles: &[EntropyProfile], width: u32) -> Scene {
    let looks = [(Ink::Exploratory, Dash::Solid), (Ink::Green, Dash::Long), (Ink::Spurious, Dash::Dots)];
    let pens: Vec<Pen> = profiles
        .iter()
        .enumerate()
        .map(|(i, _)| Pen::new(looks[i % 3].0).dash(looks[i % 3].1).width(2.2))
        .collect();
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    let legend: Vec<_> = profiles
        .iter()
        .zip(&pens)
        .map(|(p, pen)| {
            let steps = if p.first_step == p.last_step {
                format!("step {}", p.first_step)
            } else {
                format!("steps {}–{}", p.first_step, p.last_step)
            };
            Entry::new(Key::Line(*pen), format!("{}: {steps}", p.period))
        })
        .collect();
    canvas.legend(&legend);
    let top =
        largest(profiles.iter().flat_map(|p| p.entropy.iter().copied())).unwrap_or(1.0).max(1e-6) * 1.03;
    let x =
        Axis::new("token quantile (%), tokens ordered by entropy", 0.0..100.0, ticks::linear(0.0, 100.0, 10));
    let plot = Plot::new(&canvas, &x, &Axis::new("entropy (nats)", 0.0..top, ticks::linear(0.0, top, 6)));
    for (profile, pen) in profiles.iter().zip(&pens) {
        let last = profile.entropy.len().saturating_sub(1).max(1) as f64;
        let points: Vec<_> =
            profile.entropy.iter().enumerate().map(|(i, h)| (100.0 * i as f64 / last, *h)).collect();
        plot.line(&points, *pen);
    }
    canvas.finish()
}

fn table(profiles: &[EntropyProfile]) -> DataFrame {
    let mut rows = Vec::new();
    for p in profiles {
        let last = p.entropy.len().saturating_sub(1).max(1) as f64;
        rows.extend(p.entropy.iter().enumerate().map(|(i, h)| (p, i as f64 / last, *h)));
    }
    Columns::of(&rows)
        .text("period", |r| r.0.period.name())
        .int("first_step", |r| r.0.first_step)
        .int("last_step", |r| r.0.last_step)
        .float("quantile", |r| r.1)
        .float("entropy", |r| r.2)
        .frame()
}
