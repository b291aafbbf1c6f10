//! Reward, held-out score, entropy and length over the steps: a line an arm, with how far it is known.

use std::collections::BTreeMap;
use std::ops::Range;

use stapo_compare::{Comparison, Metric, StepValue, Window};

use super::short;
use crate::chart::{Chart, Lines, Series, Unit, palette};
use crate::document::{Block, Figure, Text};
use crate::words;

/// Colours of arms: the first, what is held against it, and a third. More would not be told apart.
const COLOURS: [plotters::style::RGBColor; 3] = [palette::LINE, palette::OTHER, palette::THIRD];
/// Standard errors on either side.
const WIDTH: f64 = 1.96;

/// Four charts; right answers stand in for what is not logged.
pub fn figures(comparison: &Comparison) -> Vec<Block> {
    let wanted = [Metric::Reward, Metric::HeldOut, Metric::Entropy, Metric::Length, Metric::RightAnswers];
    let mut all: Vec<(usize, Figure)> = Vec::new();
    for (place, metric) in wanted.into_iter().enumerate() {
        // Beside the reward, where nothing was held out.
        let place = if metric == Metric::RightAnswers { 1 } else { place };
        all.extend(figure(comparison, metric).filter(|_| all.len() < 4).map(|figure| (place, figure)));
    }
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, figure)| Block::Figure(figure)).collect()
}

fn figure(comparison: &Comparison, metric: Metric) -> Option<Figure> {
    let arms = comparison.arms.iter().zip(COLOURS);
    let line = |(arm, colour): (&stapo_compare::result::Arm, _)| {
        let (points, spread) = arm_line(comparison, &arm.runs, metric.name())?;
        let end = end(comparison, metric, &arm.name);
        let last = end.map_or(points.last()?.1, |(_, mean)| mean);
        let name = format!("{} {}", short(&arm.name), value(metric, last));
        Some(Series { colour, spread, end, ..Series::new(name, points) })
    };
    let series: Vec<Series> = arms.filter_map(line).collect();
    (!series.is_empty()).then(|| {
        let ends: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
        Figure {
            title: words::capital(metric.words()).into(),
            note: note(comparison, metric),
            label: format!("{} over steps, at the end {}", metric.words(), ends.join(", ")),
            chart: Chart::Lines(Lines {
                unit: if metric == Metric::RightAnswers { Unit::Percent } else { Unit::Plain },
                range: range(metric, &series),
                series,
                ..Lines::default()
            }),
            file: Some("compare_steps"),
        }
    })
}

/// From where on the end is, and its value: the very number of the table, where there are two runs.
fn end(comparison: &Comparison, metric: Metric, run: &str) -> Option<(f64, f64)> {
    let [pair] = &comparison.pairs[..] else { return None };
    let row = comparison.metrics.iter().find(|row| row.metric == metric && row.window == Window::End)?;
    let value = if run == pair.against { row.baseline } else { row.other };
    let steps = |run: &str| {
        let series =
            comparison.series.iter().find(|series| series.run == run && series.metric == metric.name());
        series.into_iter().flat_map(|series| &series.points).map(|point| point.step).collect::<Vec<i64>>()
    };
    let others = steps(&pair.name);
    let common: Vec<i64> = steps(&pair.against).into_iter().filter(|step| others.contains(step)).collect();
    Window::End.of(&common).first().map(|first| *first as f64).zip(value)
}

/// From zero to the next round number; what goes below zero is seen as it is.
fn range(metric: Metric, series: &[Series]) -> Option<Range<f64>> {
    if metric == Metric::RightAnswers {
        return Some(0.0..1.0);
    }
    let spread = series.iter().flat_map(|s| s.spread.iter().map(|p| p.2));
    let values = series.iter().flat_map(|s| s.points.iter().map(|p| p.1));
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.chain(spread).filter(|v| v.is_finite()).fold(0.0, f64::max);
    if low < 0.0 || high <= 0.0 {
        return None;
    }
    let power = 10f64.powf(high.log10().floor());
    let top = [1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0].into_iter().find(|m| m * power >= high);
    Some(0.0..top.unwrap_or(10.0) * power)
}

type Points = (Vec<(f64, f64)>, Vec<(f64, f64, f64)>);

/// A run with the error of its steps; of several runs the mean between the lowest and the highest.
fn arm_line(comparison: &Comparison, runs: &[String], metric: &str) -> Option<Points> {
    let of_run = |run: &String| {
        comparison
            .series
            .iter()
            .find(|series| series.run == *run && series.metric == metric)
            .map(|s| &s.points[..])
    };
    let all: Vec<&[StepValue]> = runs.iter().filter_map(of_run).collect();
    if let [only] = all[..] {
        let known = |point: &StepValue| {
            let half = WIDTH * point.error?;
            Some((point.step as f64, point.value - half, point.value + half))
        };
        let points = only.iter().map(|point| (point.step as f64, point.value)).collect();
        let spread: Vec<(f64, f64, f64)> = only.iter().filter_map(known).collect();
        if spread.is_empty() {
            let Series { points, spread, .. } = Series::new("", points).of_rows();
            return Some((points, spread));
        }
        return Some((points, spread));
    }
    let mut steps: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for point in all.iter().copied().flatten() {
        steps.entry(point.step).or_default().push(point.value);
    }
    steps.retain(|_, values| values.len() == all.len());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let ends = |values: &[f64]| {
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)))
    };
    let points: Vec<(f64, f64)> = steps.iter().map(|(step, values)| (*step as f64, mean(values))).collect();
    let spread = steps.iter().map(|(step, values)| {
        let (low, high) = ends(values);
        (*step as f64, low, high)
    });
    (!points.is_empty()).then(|| (points, spread.collect()))
}

fn note(comparison: &Comparison, metric: Metric) -> Text {
    let unit = match metric {
        Metric::Reward | Metric::HeldOut => "mean of a step",
        Metric::RightAnswers => "share of the answers",
        Metric::Length if comparison.runs.iter().all(|run| run.in_characters) => "characters an answer",
        Metric::Length => "tokens an answer",
        Metric::Entropy => "nats a token",
    };
    let several = comparison.arms.iter().any(|arm| arm.runs.len() > 1);
    let has_errors = |series: &stapo_compare::result::Series| {
        series.metric == metric.name() && series.points.iter().any(|point| point.error.is_some())
    };
    let band = match several {
        true => "; band: its seeds",
        false if comparison.series.iter().any(has_errors) => "; band: 95 %",
        false => "; band: lowest to highest",
    };
    let more = comparison.arms.len().saturating_sub(COLOURS.len());
    let left_out = if more > 0 { format!("; {more} more in the table") } else { String::new() };
    format!("{unit}{band}{left_out}").into()
}

fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::RightAnswers => words::percent(value),
        Metric::Length => words::sig(value, 3),
        Metric::Reward | Metric::HeldOut | Metric::Entropy => words::sig(value, 2),
    }
}
