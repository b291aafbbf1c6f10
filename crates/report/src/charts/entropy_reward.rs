//! Entropy and reward over steps.

use super::series::{draw_series, largest, over_steps, smallest, step_axis, stride_note};
use super::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_result::RunAnalysis;
use stapo_result::{EntropyQuantiles, StepRow};

const TITLE: &str = "Entropy and reward over steps";

/// What is drawn.
struct Data {
    entropy: Vec<(f64, f64)>,
    /// Empty where no reward is logged.
    reward: Vec<(f64, f64)>,
    /// 5 to 95 % of the tokens.
    outer: Vec<(f64, f64, f64)>,
    /// 25 to 75 %.
    inner: Vec<(f64, f64, f64)>,
}

/// Entropy by the left axis, reward by the right one.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let steps = &analysis.steps;
    let mut data = Data {
        entropy: over_steps(steps, |s| s.mean_entropy),
        reward: over_steps(steps, |s| s.mean_reward),
        outer: band(steps, |q| q.q05, |q| q.q95),
        inner: band(steps, |q| q.q25, |q| q.q75),
    };
    if data.entropy.iter().all(|p| p.1.is_nan()) {
        return Err(Missing::new(TITLE, "the column `entropy`"));
    }
    let mut notes: Vec<String> = stride_note(steps).into_iter().collect();
    if data.reward.iter().all(|p| !p.1.is_finite()) {
        data.reward.clear();
        notes.push("Reward is not drawn: it needs the column `reward`.".into());
    }
    Ok(Chart {
        name: "entropy_reward",
        title: TITLE.into(),
        reading: "Healthy runs keep some entropy while the reward rises; a line that falls to zero and stays there has stopped exploring, one that shoots up is losing its policy.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(steps, &data, width)),
        table: table(steps),
    })
}

fn ink(steps: &[StepRow], data: &Data, width: u32) -> Scene {
    let Data { entropy, reward, outer, inner } = data;
    let top = largest(entropy.iter().map(|p| p.1).chain(outer.iter().map(|b| b.2))).unwrap_or(1.0).max(1e-6);
    let left = Axis::new("entropy (nats)", 0.0..top * 1.06, ticks::linear(0.0, top * 1.06, 6));
    let right = (!reward.is_empty()).then(|| reward_axis(reward));
    let line = Pen::new(Ink::Exploratory).width(2.2);
    let dashed = Pen::new(Ink::Spurious).width(2.0).dash(Dash::Long);
    let mut canvas = Canvas::new(width, HEIGHT, TITLE);
    let mut legend = vec![Entry::new(Key::Marked(line, Mark::Dot), "mean entropy (left)")];
    if !outer.is_empty() {
        legend.push(Entry::new(Key::Area(line.alpha(0.36)), "25–75 % of tokens"));
        legend.push(Entry::new(Key::Area(line.alpha(0.14)), "5–95 %"));
    }
    if right.is_some() {
        legend.push(Entry::new(Key::Marked(dashed, Mark::Diamond), "mean reward (right)"));
    }
    canvas.legend(&legend);
    let plot = Plot::with_right_axis(&canvas, &step_axis(steps, 8), &left, right.as_ref());
    plot.band(outer, line.alpha(0.14));
    plot.band(inner, line.alpha(0.26));
    draw_series(&plot, entropy, line, Mark::Dot);
    if let Some(right) = &right {
        draw_series(&plot.with_y(right), reward, dashed, Mark::Diamond);
    }
    canvas.finish()
}

fn band(
    steps: &[StepRow],
    low: impl Fn(&EntropyQuantiles) -> f64,
    high: impl Fn(&EntropyQuantiles) -> f64,
) -> Vec<(f64, f64, f64)> {
    let low = over_steps(steps, |s| s.entropy_quantiles.as_ref().map(&low));
    let high = over_steps(steps, |s| s.entropy_quantiles.as_ref().map(&high));
    let points = low.iter().zip(&high).map(|(l, h)| (l.0, l.1, h.1));
    points.filter(|p| p.1.is_finite() && p.2.is_finite()).collect()
}

fn reward_axis(reward: &[(f64, f64)]) -> Axis {
    let low = smallest(reward.iter().map(|p| p.1)).unwrap_or(0.0);
    let high = largest(reward.iter().map(|p| p.1)).unwrap_or(1.0);
    let (low, high) = if (0.0..=1.0).contains(&low) && high <= 1.0 {
        (0.0, 1.0)
    } else {
        let margin = ((high - low) * 0.08).max(1e-6);
        (low - margin, high + margin)
    };
    Axis::new("mean reward", low..high, ticks::linear(low, high, 5))
}

fn table(steps: &[StepRow]) -> DataFrame {
    let mut columns = Columns::of(steps)
        .int("step", |s| s.step)
        .count("tokens", |s| s.tokens)
        .count("responses", |s| s.responses)
        .float("mean_reward", |s| s.mean_reward)
        .float("reward_std", |s| s.reward_std)
        .float("mean_entropy", |s| s.mean_entropy);
    for (i, name) in EntropyQuantiles::NAMES.into_iter().enumerate() {
        columns = columns.float(name, |s| s.entropy_quantiles.map(|q| q.values()[i]));
    }
    columns.frame()
}
