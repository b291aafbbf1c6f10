//! Series over the steps of a run.

use crate::draw::{Axis, Mark, Pen, Plot, ticks};
use stapo_result::StepRow;

/// Points of a line at most; longer runs are averaged.
pub const POINTS: usize = 300;

/// Steps that one point stands for.
pub fn stride(steps: &[StepRow]) -> usize {
    steps.len().div_ceil(POINTS).max(1)
}

/// What to say where a point stands for several steps.
pub fn stride_note(steps: &[StepRow]) -> Option<String> {
    let stride = stride(steps);
    (stride > 1).then(|| format!("Each point is the mean of {stride} logged steps."))
}

/// A value over steps; NaN where no step of the point has one.
#[allow(clippy::cast_precision_loss)]
pub fn over_steps(steps: &[StepRow], value: impl Fn(&StepRow) -> Option<f64>) -> Vec<(f64, f64)> {
    steps
        .chunks(stride(steps))
        .map(|chunk| {
            let x = chunk.iter().map(|s| s.step as f64).sum::<f64>() / chunk.len() as f64;
            let values: Vec<f64> = chunk.iter().filter_map(&value).filter(|v| v.is_finite()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (x, mean)
        })
        .collect()
}

/// The horizontal axis of charts over steps.
#[allow(clippy::cast_precision_loss)]
pub fn step_axis(steps: &[StepRow], count: usize) -> Axis {
    let first = steps.first().map_or(0.0, |s| s.step as f64);
    let last = steps.last().map_or(1.0, |s| s.step as f64);
    let margin = ((last - first) * 0.02).max(if last > first { 0.0 } else { 1.0 });
    Axis::new("training step", first - margin..last + margin, ticks::whole(first, last, count))
}

/// A line over steps with marks where there are few enough of them.
pub fn draw_series(plot: &Plot, points: &[(f64, f64)], pen: Pen, mark: Mark) {
    plot.line(points, pen);
    let alone = points.windows(2).all(|w| !(w[0].1.is_finite() && w[1].1.is_finite()));
    if points.len() <= 40 || alone {
        for (x, y) in points {
            plot.mark(*x, *y, mark, 3.5, pen);
        }
    }
}

/// Largest finite value.
pub fn largest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().filter(|v| v.is_finite()).max_by(f64::total_cmp)
}

/// Smallest finite value.
pub fn smallest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().filter(|v| v.is_finite()).min_by(f64::total_cmp)
}
