//! Regions of the probability × entropy plane that gained or lost tokens.

use super::look::label;
use crate::charts::{Chart, Drawn, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::format::{number, percent};
use stapo_base::tables::{Columns, DataFrame};
use stapo_compare::result::{DistributionChange, RegionChange};
use stapo_compare::shown::shown_p;

const TITLE: &str = "Where tokens went on the probability × entropy plane";
const NAMES: [&str; 3] = ["compare_plane", "compare_plane_2", "compare_plane_3"];
/// Opacities of changes.
const LEVELS: f64 = 6.0;

/// Draws it for an arm other than the baseline, the one that has charts of its own at this place.
pub fn draw(change: &DistributionChange, place: usize) -> Drawn {
    let regions = &change.all_regions;
    if regions.is_empty() {
        return Err(Missing::new(TITLE, "tokens in both runs"));
    }
    let title = format!("{TITLE}: {}", label(&change.run));
    let mut notes = Vec::new();
    if let Some(distance) = &change.plane {
        notes.push(format!(
            "Jensen–Shannon distance {} (swapped labels give {} in the middle, {} at the 95 % quantile; p = {}).",
            number(distance.distance),
            number(distance.noise),
            number(distance.noise_high),
            shown_p(distance.p_value)
        ));
    }
    notes
        .push(format!("The strongest colour stands for {} of the tokens.", percent(largest_change(regions))));
    Ok(Chart {
        name: NAMES[place.min(NAMES.len() - 1)],
        title: title.clone(),
        reading: "Colour shows where the run has more or fewer of its tokens than the baseline; framed regions changed by more than their own scatter between groups of prompts.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(regions, &label(&change.run), Canvas::new(width, 420, &title))),
        table: table(regions),
    })
}

fn largest_change(regions: &[RegionChange]) -> f64 {
    regions.iter().map(|r| r.share.difference.abs()).fold(0.0, f64::max)
}

fn ink(regions: &[RegionChange], name: &str, mut canvas: Canvas) -> Scene {
    let (gained, lost) = (Pen::new(Ink::Exploratory), Pen::new(Ink::Spurious));
    let sure = Pen::new(Ink::Text).width(1.3);
    let curve = Pen::new(Ink::Green).width(1.8).dash(Dash::Long);
    canvas.legend(&[
        Entry::new(Key::Area(gained.alpha(0.75)), format!("more in {}", name)),
        Entry::new(Key::Area(lost.alpha(0.75)), "fewer"),
        Entry::new(Key::Line(sure), "frame: interval without 0"),
        Entry::new(Key::Line(curve), "ln p = −H"),
    ]);
    let left = regions.iter().map(|r| r.log10_prob[0]).fold(0.0, f64::min).min(-1.0);
    let top = regions.iter().map(|r| r.entropy[1]).fold(0.5, f64::max);
    let x = Axis::new("probability p of the sampled token (log)", left..0.0, ticks::decades(left, 0.0, 8));
    let y = Axis::new("entropy H (nats)", 0.0..top, ticks::linear(0.0, top, 7));
    let plot = Plot::new(&canvas, &x, &y);
    let largest = largest_change(regions);
    for r in regions {
        let strength = if largest > 0.0 { (r.share.difference.abs() / largest).sqrt() } else { 0.0 };
        let level = (strength * LEVELS).ceil() / LEVELS;
        if level > 0.0 {
            let pen = if r.share.difference > 0.0 { gained } else { lost };
            plot.bar(
                (r.log10_prob[0], r.entropy[0]),
                (r.log10_prob[1], r.entropy[1]),
                pen.alpha(0.08 + 0.72 * level),
            );
        }
    }
    for r in regions.iter().filter(|r| r.share.is_sure()) {
        let ([x0, x1], [y0, y1]) = (r.log10_prob, r.entropy);
        plot.line(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], sure);
    }
    let steps = (0..=60).map(|i| left * f64::from(i) / 60.0).map(|x| (x, -x * std::f64::consts::LN_10));
    let bend: Vec<(f64, f64)> = steps.filter(|p| p.1 <= top).collect();
    plot.line(&bend, curve);
    canvas.finish()
}

fn table(regions: &[RegionChange]) -> DataFrame {
    Columns::of(regions)
        .float("log10_p_from", |r| r.log10_prob[0])
        .float("log10_p_to", |r| r.log10_prob[1])
        .float("entropy_from", |r| r.entropy[0])
        .float("entropy_to", |r| r.entropy[1])
        .float("baseline", |r| r.share.baseline)
        .float("other", |r| r.share.other)
        .float("difference", |r| r.share.difference)
        .float("ci_low", |r| r.share.ci_low)
        .float("ci_high", |r| r.share.ci_high)
        .frame()
}
