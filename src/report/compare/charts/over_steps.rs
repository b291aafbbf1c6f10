//! Entropy, reward, silenced ratio and their gap over steps, a line a run.

use super::{label, left_out, look};
use crate::compare::Comparison;
use crate::compare::result::Series;
use crate::report::charts::series::{POINTS, draw_series, largest, smallest};
use crate::report::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::report::draw::{Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, ticks};
use crate::tables::{Columns, DataFrame};

/// The series of a metric, by run in their order; runs without it are left out.
pub fn of_metric<'a>(
    comparison: &'a Comparison,
    series: &'a [Series],
    metric: &str,
) -> Vec<(usize, &'a Series)> {
    let run = |name: &str| comparison.runs.iter().position(|r| r.name == name);
    let mut found: Vec<_> = series
        .iter()
        .filter(|s| s.metric == metric && !s.points.is_empty())
        .filter_map(|s| Some((run(&s.run)?, s)))
        .collect();
    found.sort_by_key(|(index, _)| *index);
    found
}

/// Points for a line: neighbours are averaged where there are too many.
#[allow(clippy::cast_precision_loss)]
pub fn thinned(points: &[(i64, f64)]) -> Vec<(f64, f64)> {
    let stride = points.len().div_ceil(POINTS).max(1);
    let mean = |part: &[(i64, f64)]| {
        let n = part.len() as f64;
        (part.iter().map(|p| p.0 as f64).sum::<f64>() / n, part.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(stride).map(mean).collect()
}

/// The horizontal axis over the steps of all lines.
pub fn step_axis<'a>(points: impl Iterator<Item = &'a (f64, f64)> + Clone, count: usize) -> Axis {
    let x = || points.clone().map(|p| p.0);
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
            metric: "entropy",
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
            metric: "reward",
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
            metric: "silenced_ratio",
            axis: "share of trained tokens (log)",
            needs: "tokens that are silenced",
            reading: "The share of tokens that S2T finds at each step, in every run by the same rule, whether the run was trained with it or not.",
            from_zero: false,
            log: true,
        },
    )
}

fn draw(comparison: &Comparison, shown: &Shown) -> Drawn {
    let found = of_metric(comparison, &comparison.series, shown.metric);
    let scaled = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        let log = |y: f64| if y > 0.0 { y.log10() } else { f64::NAN };
        points.into_iter().map(|(x, y)| (x, if shown.log { log(y) } else { y })).collect()
    };
    let lines: Vec<Line> = found
        .iter()
        .take(super::RUNS)
        .map(|(run, s)| Line { run: *run, label: label(&s.run), points: scaled(thinned(&s.points)) })
        .collect();
    let y = || lines.iter().flat_map(|l| &l.points).map(|p| p.1);
    let (Some(low), Some(high)) = (smallest(y()), largest(y())) else {
        return Err(Missing::new(shown.title, shown.needs));
    };
    let axis = shown.axis(low, high);
    let mut notes: Vec<String> = left_out(found.len()).into_iter().collect();
    if shown.log && found.iter().any(|(_, s)| s.points.iter().any(|p| p.1 <= 0.0)) {
        notes.push("Steps without a silenced token have no mark.".into());
    }
    Ok(Chart {
        name: shown.name,
        title: shown.title.into(),
        reading: shown.reading.into(),
        notes,
        scenes: Scenes::draw(|width| ink(Canvas::new(width, HEIGHT, shown.title), &lines, &axis)),
        table: table(found.iter().map(|(_, s)| *s)),
    })
}

/// The line of a run.
struct Line {
    run: usize,
    label: String,
    points: Vec<(f64, f64)>,
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

fn ink(mut canvas: Canvas, lines: &[Line], axis: &Axis) -> Scene {
    let key = |line: &Line| {
        let (pen, mark) = look(line.run);
        Entry::new(Key::Marked(pen, mark), line.label.as_str())
    };
    canvas.legend(&lines.iter().map(key).collect::<Vec<_>>());
    let steps = step_axis(lines.iter().flat_map(|l| &l.points), 8);
    let plot = Plot::new(&canvas, &steps, axis);
    plot.level(0.0, Pen::new(Ink::Axis).width(1.4));
    for line in lines {
        let (pen, mark) = look(line.run);
        draw_series(&plot, &line.points, pen, mark);
    }
    canvas.finish()
}

fn table<'a>(series: impl Iterator<Item = &'a Series>) -> DataFrame {
    let rows: Vec<_> = series.flat_map(|s| s.points.iter().map(|p| (s.run.as_str(), *p))).collect();
    Columns::of(&rows).text("run", |r| r.0).int("step", |r| r.1.0).float("value", |r| r.1.1).frame()
}

/// The difference of entropy to the baseline at each step.
pub fn gap(comparison: &Comparison) -> Drawn {
    const TITLE: &str = "Entropy gap to the baseline";
    let found = of_metric(comparison, &comparison.series, "entropy");
    let base: Vec<(i64, f64)> = match found.first() {
        Some((0, series)) => series.points.clone(),
        _ => Vec::new(),
    };
    let at = |step: i64| base.binary_search_by_key(&step, |p| p.0).ok().map(|i| base[i].1);
    let gaps: Vec<(usize, Series)> = found
        .iter()
        .skip(1)
        .map(|(run, s)| {
            let points = s.points.iter().filter_map(|(step, value)| Some((*step, value - at(*step)?)));
            (*run, Series { points: points.collect(), ..(*s).clone() })
        })
        .filter(|(_, s)| s.points.len() > 1)
        .collect();
    if gaps.is_empty() {
        return Err(Missing::new(TITLE, "two steps or more that a run shares with the first"));
    }
    let first = label(&comparison.runs[0].name);
    let line = |(run, s): &(usize, Series)| Line {
        run: *run,
        label: format!("{} minus {first}", label(&s.run)),
        points: thinned(&s.points),
    };
    let lines: Vec<Line> = gaps.iter().take(super::RUNS - 1).map(line).collect();
    let sizes = lines.iter().flat_map(|l| &l.points).map(|p| p.1.abs());
    let size = largest(sizes).unwrap_or(1.0).max(1e-6) * 1.1;
    let axis = Axis::new("difference (nats)", -size..size, ticks::linear(-size, size, 6));
    Ok(Chart {
        name: "compare_gap",
        title: TITLE.into(),
        reading: "Scatter about zero is no difference; a gap that opens and stays is one of these runs, and neighbouring steps are then not independent.".into(),
        notes: left_out(gaps.len() + 1).into_iter().collect(),
        scenes: Scenes::draw(|width| ink(Canvas::new(width, HEIGHT - 80, TITLE), &lines, &axis)),
        table: table(gaps.iter().map(|(_, s)| s)),
    })
}
