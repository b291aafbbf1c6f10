//! The silenced ratio over steps, on a logarithmic axis.

use super::series::{draw_series, largest, over_steps, smallest, step_axis, stride_note};
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_result::RunAnalysis;
use stapo_result::StepRow;

const TITLE: &str = "Silenced ratio over steps";
/// What the paper expects: mostly below this share of tokens.
const EXPECTED: f64 = 1e-4;

/// The share at every step.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let steps = &analysis.steps;
    if steps.iter().all(|s| s.tokens == 0) {
        return Err(Missing::new(TITLE, "trained tokens with `logprob`, `entropy` and `advantage`"));
    }
    Ok(Chart {
        name: "silenced_ratio",
        title: TITLE.into(),
        reading: "The share of tokens that S2T would silence at each step: a rise late in the run means that rare tokens are being reinforced where the policy was sure of something else.".into(),
        notes: stride_note(steps).into_iter().collect(),
        scenes: Scenes::draw(|width| ink(steps, width)),
        table: table(steps),
    })
}

/// Points on a logarithmic axis; without those at 0.
fn log(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|p| (p.0, if p.1 > 0.0 { p.1.log10() } else { f64::NAN })).collect()
}

#[allow(clippy::cast_precision_loss)]
fn ink(steps: &[StepRow], width: u32) -> Scene {
    let silenced = over_steps(steps, |s| Some(s.silenced_ratio));
    let rare = over_steps(steps, |s| (s.tokens > 0).then(|| s.candidates as f64 / s.tokens as f64));
    let (silenced_log, rare_log) = (log(&silenced), log(&rare));
    let values = || silenced_log.iter().chain(&rare_log).map(|p| p.1).chain([EXPECTED.log10()]);
    let low = smallest(values()).unwrap_or(-5.0).floor() - 0.2;
    let high = (largest(values()).unwrap_or(-3.0) + 0.1).ceil();
    let line = Pen::new(Ink::Spurious).width(2.2);
    let dotted = Pen::new(Ink::Neutral).width(1.6).dash(Dash::Short);
    let level = Pen::new(Ink::Muted).dash(Dash::Dots).width(1.4);
    let mut legend = vec![
        Entry::new(Key::Marked(line, Mark::Diamond), "silenced / tokens"),
        Entry::new(Key::Marked(dotted, Mark::Ring), "candidates / tokens"),
        Entry::new(Key::Line(level), "10⁻⁴, the scale the paper reports"),
    ];
    if silenced.iter().any(|p| p.1 == 0.0) {
        legend.push(Entry::new(Key::Mark(line, Mark::Cross), "none silenced"));
    }
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    canvas.legend(&legend);
    let axis = Axis::new("share of trained tokens (log)", low..high, ticks::decades(low, high, 7));
    let plot = Plot::new(&canvas, &step_axis(steps, 8), &axis);
    plot.level(EXPECTED.log10(), level);
    draw_series(&plot, &rare_log, dotted, Mark::Ring);
    draw_series(&plot, &silenced_log, line, Mark::Diamond);
    for (x, _) in silenced.iter().filter(|p| p.1 == 0.0) {
        plot.mark(*x, low + 0.08, Mark::Cross, 3.5, line);
    }
    canvas.finish()
}

fn table(steps: &[StepRow]) -> DataFrame {
    Columns::of(steps)
        .int("step", |s| s.step)
        .count("tokens", |s| s.tokens)
        .count("candidates", |s| s.candidates)
        .count("silenced", |s| s.silenced)
        .count("exploratory", |s| s.exploratory)
        .float("silenced_ratio", |s| s.silenced_ratio)
        .float("tau_h", |s| s.tau_h)
        .frame()
}
