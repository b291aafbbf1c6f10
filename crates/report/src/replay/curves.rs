//! Curves over the replay, one line an objective: the mean of its seeds, and their range.

use super::series::{Spread, arms_of, mean, over_batches, pen, spread};
use crate::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Dash, Entry, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_framework::rules::Rule;
use stapo_result::replay::ReplayResult;
use stapo_result::replay::{HoldoutMetrics, Update};

/// Lines of more points than this have no marks.
const MARKED: usize = 24;

/// What a chart of curves shows.
struct Curves {
    name: &'static str,
    title: &'static str,
    reading: &'static str,
    x: &'static str,
    y: &'static str,
    from_zero: bool,
}

/// One line.
struct Line {
    label: String,
    objective: Rule,
    pen: Pen,
    mark: Mark,
    points: Vec<Spread>,
}

/// Entropy of the mini-batches.
pub fn entropy(result: &ReplayResult) -> Drawn {
    let curves = Curves {
        name: "replay_entropy",
        title: "Entropy along the replay",
        reading: "Mean entropy of each mini-batch’s tokens before it is trained on: a line below the others explores less.",
        x: "mini-batch",
        y: "entropy (nats)",
        from_zero: true,
    };
    curves.draw(result, batch_lines(result, |batch| Some(batch.first()?.mean_entropy)))
}

/// Gradient norms.
pub fn gradient(result: &ReplayResult) -> Drawn {
    let curves = Curves {
        name: "replay_gradient",
        title: "Gradient norm along the replay",
        reading: "Global norm of the gradient before it is clipped, the mean where a mini-batch has several updates. Objectives that average otherwise, or over fewer tokens, have another scale.",
        x: "mini-batch",
        y: "gradient norm",
        from_zero: true,
    };
    let norm = |batch: &[Update]| mean(&batch.iter().map(|u| u.grad_norm).collect::<Vec<_>>());
    curves.draw(result, batch_lines(result, norm))
}

/// Divergence from the start.
pub fn divergence(result: &ReplayResult) -> Drawn {
    let curves = Curves {
        name: "replay_divergence",
        title: "Divergence from the start",
        reading: "An estimate (k3, over each mini-batch’s logged tokens, before it is trained on) of how far each arm has moved from the policy that all of them started from.",
        x: "mini-batch",
        y: "KL estimate (nats a token)",
        from_zero: true,
    };
    curves.draw(result, batch_lines(result, |batch| Some(batch.first()?.kl_to_start)))
}

/// Separation of correct from wrong responses on the hold-out.
pub fn separation(result: &ReplayResult) -> Drawn {
    let curves = Curves {
        name: "replay_separation",
        title: "Correct above wrong, on the hold-out",
        reading: "How often a correct held-out response has a higher mean log-probability than a wrong one: one half is chance, a line that falls is losing quality.",
        x: "mini-batches trained",
        y: "AUC",
        from_zero: false,
    };
    curves.draw(result, holdout_lines(result, &[("", |h| h.auc)]))
}

/// Log-probabilities of correct and wrong responses on the hold-out.
pub fn likelihood(result: &ReplayResult) -> Drawn {
    let curves = Curves {
        name: "replay_likelihood",
        title: "Log-probability of held-out responses",
        reading: "Mean log-probability a token; learning lifts correct responses (solid) over wrong ones (dotted).",
        x: "mini-batches trained",
        y: "ln π a token",
        from_zero: false,
    };
    let both: [Side; 2] = [(", correct", |h| h.correct_logprob), (", wrong", |h| h.wrong_logprob)];
    let mut lines = holdout_lines(result, &both);
    for line in &mut lines {
        let wrong = line.label.ends_with("wrong");
        line.pen = line.pen.dash(if wrong { Dash::Dots } else { Dash::Solid });
    }
    curves.draw(result, lines)
}

type Side = (&'static str, fn(&HoldoutMetrics) -> Option<f64>);

fn batch_lines(result: &ReplayResult, value: fn(&[Update]) -> Option<f64>) -> Vec<Line> {
    let one = |(place, row): (usize, &stapo_result::replay::ArmSummary)| {
        let (pen, mark) = pen(place);
        let points = over_batches(result, row.objective, value);
        Line { label: row.objective.to_string(), objective: row.objective, pen, mark, points }
    };
    result.summary.iter().enumerate().map(one).collect()
}

fn holdout_lines(result: &ReplayResult, sides: &[Side]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (place, row) in result.summary.iter().enumerate() {
        for (suffix, value) in sides {
            let (pen, mark) = pen(place);
            lines.push(Line {
                label: format!("{}{suffix}", row.objective),
                objective: row.objective,
                pen,
                mark,
                points: holdout_points(result, row.objective, *value),
            });
        }
    }
    lines
}

/// The start, then every evaluation, at the mini-batches trained by then.
fn holdout_points(
    result: &ReplayResult,
    objective: Rule,
    value: fn(&HoldoutMetrics) -> Option<f64>,
) -> Vec<Spread> {
    let arms = arms_of(result, objective);
    let mut points: Vec<Spread> = Vec::new();
    points.extend(result.start.as_ref().and_then(value).and_then(|v| spread(0.0, &[v])));
    let count = arms.iter().map(|a| a.holdout.len()).max().unwrap_or(0);
    for place in 0..count {
        let values: Vec<f64> = arms.iter().filter_map(|a| a.holdout.get(place)).filter_map(value).collect();
        let after = arms.iter().find_map(|a| {
            let updates = a.holdout.get(place)?.updates as usize;
            let done = &a.updates[..updates.min(a.updates.len())];
            Some(done.iter().filter(|u| u.pass == 0).count())
        });
        points.extend(spread(after.unwrap_or(0) as f64, &values));
    }
    points
}

impl Curves {
    fn draw(&self, result: &ReplayResult, lines: Vec<Line>) -> Drawn {
        if lines.iter().all(|l| l.points.is_empty()) {
            return Err(Missing::new(
                self.title,
                "responses that are held out (--holdout), correct and wrong ones",
            ));
        }
        let seeds = result.training.seeds;
        let notes = match seeds {
            1 => vec!["One seed.".into()],
            n => vec![format!("Lines are means of {n} seeds, bands their range.")],
        };
        Ok(Chart {
            name: self.name,
            title: self.title.into(),
            reading: self.reading.into(),
            notes,
            scenes: Scenes::draw(|width| self.ink(&lines, seeds > 1, width)),
            table: table(&lines),
        })
    }

    fn axes(&self, lines: &[Line]) -> (Axis, Axis) {
        let all = || lines.iter().flat_map(|l| &l.points);
        let low = all().map(|p| p.2).fold(f64::INFINITY, f64::min);
        let high = all().map(|p| p.3).fold(f64::NEG_INFINITY, f64::max);
        let margin = ((high - low) * 0.08).max(high.abs() * 1e-3).max(1e-9);
        let bottom = if self.from_zero && low >= 0.0 && low < 0.6 * high { 0.0 } else { low - margin };
        let y = Axis::new(self.y, bottom..high + margin, ticks::linear(bottom, high + margin, 6));
        let last = all().map(|p| p.0).fold(1.0, f64::max);
        let first = all().map(|p| p.0).fold(last, f64::min);
        let side = ((last - first) * 0.02).max(0.2);
        (Axis::new(self.x, first - side..last + side, ticks::whole(first, last, 8)), y)
    }

    fn ink(&self, lines: &[Line], ranges: bool, width: u32) -> Scene {
        let mut canvas = Canvas::new(width, HEIGHT, self.title);
        let marked = lines.iter().all(|l| l.points.len() <= MARKED);
        let key = |l: &Line| if marked { Key::Marked(l.pen, l.mark) } else { Key::Line(l.pen) };
        canvas.legend(&lines.iter().map(|l| Entry::new(key(l), l.label.as_str())).collect::<Vec<_>>());
        let (x, y) = self.axes(lines);
        let plot = Plot::new(&canvas, &x, &y);
        // Bands of many lines lie over each other: together they must not hide the lines.
        let shade = (0.36 / lines.len() as f64).min(0.12);
        for line in lines.iter().filter(|_| ranges) {
            let band: Vec<_> = line.points.iter().map(|p| (p.0, p.2, p.3)).collect();
            plot.band(&band, line.pen.alpha(shade));
        }
        for line in lines {
            let points: Vec<_> = line.points.iter().map(|p| (p.0, p.1)).collect();
            plot.line(&points, line.pen);
            if marked {
                points.iter().for_each(|(x, y)| plot.mark(*x, *y, line.mark, 3.4, line.pen));
            }
        }
        canvas.finish()
    }
}

fn table(lines: &[Line]) -> DataFrame {
    let rows: Vec<_> = lines.iter().flat_map(|line| line.points.iter().map(move |p| (line, p))).collect();
    Columns::of(&rows)
        .text("objective", |r| r.0.objective.name())
        .text("series", |r| r.0.label.as_str())
        .float("at", |r| r.1.0)
        .float("mean", |r| r.1.1)
        .float("smallest", |r| r.1.2)
        .float("largest", |r| r.1.3)
        .frame()
}
