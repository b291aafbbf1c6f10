//! Entropy, reward and silenced ratio over steps, a line an arm.

use super::arms::{self, Line};
use crate::charts::series::{largest, smallest};
use crate::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_compare::{Comparison, metric_names};

/// The horizontal axis over the steps of all lines.
pub fn step_axis(lines: &[Line], count: usize) -> Axis {
    let x = || lines.iter().flat_map(|line| &line.points).map(|p| p.0);
    let (first, last) = (smallest(x()).unwrap_or(0.0), largest(x()).unwrap_or(1.0));
    let margin = ((last - first) * 0.02).max(if last > first { 0.0 } else { 1.0 });
    Axis::new("training step", first - margin..last + margin, ticks::whole(first, last, count))
}

/// What one chart over steps shows.
struct Shown {
    name: &'static str,
    title: &'static str,
    metric: &'static str,
    axis: &'static str,
    needs: &'static str,
    reading: &'static str,
    from_zero: bool,
    log: bool,
}

/// Mean entropy.
pub fn entropy(comparison: &Comparison) -> Drawn {
    draw(
        comparison,
        &Shown {
            name: "compare_entropy",
            title: "Entropy over steps",
            metric: metric_names::ENTROPY,
            axis: "mean entropy (nats)",
            needs: "the column `entropy`",
            reading: "Runs that fall together lose their uncertainty alike; a line that turns away has found another way to train.",
            from_zero: true,
            log: false,
        },
    )
}

/// Mean reward.
pub fn reward(comparison: &Comparison) -> Drawn {
    draw(
        comparison,
        &Shown {
            name: "compare_reward",
            title: "Reward over steps",
            metric: metric_names::REWARD,
            axis: "mean reward",
            needs: "the column `reward`",
            reading: "Gains of one run that come and go from step to step are noise; a line that stays above is not.",
            from_zero: false,
            log: false,
        },
    )
}

/// Silenced tokens.
pub fn silenced(comparison: &Comparison) -> Drawn {
    draw(
        comparison,
        &Shown {
            name: "compare_silenced",
            title: "Silenced ratio over steps",
            metric: metric_names::SILENCED_RATIO,
            axis: "share of trained tokens (log)",
            needs: "tokens that are silenced",
            reading: "The share of tokens that S2T finds at each step, in every run by the same rule, whether the run was trained with it or not.",
            from_zero: false,
            log: true,
        },
    )
}

fn draw(comparison: &Comparison, shown: &Shown) -> Drawn {
    let mut lines = arms::lines(comparison, &comparison.series, shown.metric);
    let values = || lines.iter().flat_map(|line| &line.points).flat_map(|p| p.1);
    // The range of the axis; on a logarithmic one nothing is nowhere, and a band that reaches down to
    // nothing ends at the axis.
    let drawn = || values().filter(|y| !shown.log || *y > 0.0).map(|y| if shown.log { y.log10() } else { y });
    let (Some(low), Some(high)) = (smallest(drawn()), largest(drawn())) else {
        return Err(Missing::new(shown.title, shown.needs));
    };
    let axis = shown.axis(low, high);
    let mut notes = arms::notes(comparison);
    if shown.log {
        if lines.iter().flat_map(|line| &line.points).any(|(_, [mean, ..])| *mean <= 0.0) {
            notes.push("Steps without a silenced token have no mark.".into());
        }
        let log = |y: f64, nothing: f64| if y > 0.0 { y.log10() } else { nothing };
        for (_, [mean, lowest, highest]) in lines.iter_mut().flat_map(|line| &mut line.points) {
            (*lowest, *highest) = (log(*lowest, low - 9.0), log(*highest, low - 9.0));
            *mean = log(*mean, f64::NAN);
        }
    }
    Ok(Chart {
        name: shown.name,
        title: shown.title.into(),
        reading: shown.reading.into(),
        notes,
        scenes: Scenes::draw(|width| ink(Canvas::new(width, HEIGHT, shown.title), &lines, &axis)),
        table: table(comparison, shown.metric),
    })
}

impl Shown {
    fn axis(&self, low: f64, high: f64) -> Axis {
        if self.log {
            let (low, high) = ((low - 0.1).floor(), (high + 0.1).ceil());
            return Axis::new(self.axis, low..high, ticks::decades(low, high, 7));
        }
        let margin = ((high - low) * 0.08).max(1e-6);
        let low = if self.from_zero && low >= 0.0 { 0.0 } else { low - margin };
        Axis::new(self.axis, low..high + margin, ticks::linear(low, high + margin, 6))
    }
}

/// Lines over steps.
pub fn ink(mut canvas: Canvas, lines: &[Line], axis: &Axis) -> Scene {
    let key = |line: &Line| Entry::new(Key::Marked(line.pen, line.mark), line.label.as_str());
    canvas.legend(&lines.iter().map(key).collect::<Vec<_>>());
    let plot = Plot::new(&canvas, &step_axis(lines, 8), axis);
    plot.level(0.0, Pen::new(Ink::Axis).width(1.4));
    lines.iter().for_each(|line| line.draw_band(&plot));
    lines.iter().for_each(|line| line.draw_line(&plot));
    canvas.finish()
}

/// The values of every run, also of those that are not drawn.
fn table(comparison: &Comparison, metric: &str) -> DataFrame {
    let series = comparison.series.iter().filter(|s| s.metric == metric);
    let arm = |run: &str| comparison.runs.iter().find(|r| r.name == run).map_or("", |r| r.arm.as_str());
    let rows: Vec<_> = series
        .flat_map(|s| {
            let arm = arm(&s.run);
            s.points.iter().map(move |p| (s.run.as_str(), arm, *p))
        })
        .collect();
    Columns::of(&rows)
        .text("run", |r| r.0)
        .text("arm", |r| r.1)
        .int("step", |r| r.2.0)
        .float("value", |r| r.2.1)
        .frame()
}
