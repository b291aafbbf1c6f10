//! Curves of every objective: the mean over its shuffles.

use stapo_framework::rules::Rule;
use stapo_result::replay::{ReplayResult, Update};

use super::{OfHoldout, arms_of, leading, mean};
use crate::chart::palette::{LINE, ONSET, PROOF, SECOND};
use crate::chart::{Chart, Interval, Intervals, Lines, Series};
use crate::document::{Figure, Text};
use crate::words;

/// Points of a line at most; longer replays are averaged.
const POINTS: usize = 240;

/// Everything that decides, with how far it is known; `None` where nothing has an interval.
pub(super) fn intervals(result: &ReplayResult) -> Option<Figure> {
    let deciding = result.differences.iter().filter(|difference| difference.decides).take(8);
    let rows: Vec<Interval> = deciding
        .filter_map(|difference| {
            let (low, high) = difference.interval?;
            let name = format!("− {}", difference.baseline);
            let name = if difference.objective == leading(result)? {
                name
            } else {
                format!("{} {name}", difference.objective)
            };
            Some(Interval { name, middle: difference.mean, low, high })
        })
        .collect();
    let lead = leading(result)?;
    (!rows.is_empty()).then(|| Figure {
        title: format!("{lead} minus others: right over wrong").into(),
        note: "nats a token; 0 is no difference".into(),
        label: result.verdict.headline.clone(),
        chart: Chart::Intervals(Intervals { rows, reference: 0.0, ..Intervals::default() }),
        file: Some("replay_differences"),
    })
}

/// A number of the held-out answers, before any update and along the way.
pub(super) fn of_holdout(
    result: &ReplayResult,
    title: impl Into<Text>,
    note: &'static str,
    value: OfHoldout,
) -> Option<Figure> {
    let points = |objective: Rule| {
        let arms = arms_of(result, objective);
        let mut points: Vec<(f64, f64)> = Vec::new();
        points.extend(result.start.as_ref().and_then(value).map(|start| (0.0, start)));
        for place in 0..arms.iter().map(|arm| arm.holdout.len()).max().unwrap_or(0) {
            let values: Vec<f64> = arms.iter().filter_map(|arm| value(arm.holdout.get(place)?)).collect();
            // Objectives with several updates a mini-batch lie over the others.
            let after = arms.iter().find_map(|arm| {
                let done = usize::try_from(arm.holdout.get(place)?.updates).unwrap_or(usize::MAX);
                Some(arm.updates.iter().take(done).filter(|update| update.pass == 0).count())
            });
            points.extend(mean(&values).map(|value| (after.unwrap_or(0) as f64, value)));
        }
        points
    };
    figure(result, title.into(), note, "replay_holdout", points)
}

/// A number of every mini-batch, taken of all updates that an objective makes of it.
pub(super) fn of_batches(
    result: &ReplayResult,
    title: impl Into<Text>,
    note: &'static str,
    value: fn(&[Update]) -> Option<f64>,
) -> Option<Figure> {
    let same = |a: &Update, b: &Update| (a.step, a.epoch, a.minibatch) == (b.step, b.epoch, b.minibatch);
    let points = |objective: Rule| {
        let lines: Vec<Vec<f64>> = arms_of(result, objective)
            .iter()
            .map(|arm| arm.updates.chunk_by(same).map(|batch| value(batch).unwrap_or(f64::NAN)).collect())
            .collect();
        let length = lines.iter().map(Vec::len).max().unwrap_or(0);
        let stride = length.div_ceil(POINTS).max(1);
        let point = |from: usize| {
            let to = (from + stride).min(length);
            let parts = lines.iter().filter_map(|line| mean(line.get(from..to.min(line.len()))?));
            Some(((from + 1 + to) as f64 / 2.0, mean(&parts.collect::<Vec<_>>())?))
        };
        (0..length).step_by(stride).filter_map(point).collect()
    };
    figure(result, title.into(), note, "replay_updates", points)
}

/// How far the replayed policy is from the one that drew each step, as a factor.
pub(super) fn drift(result: &ReplayResult) -> Option<Figure> {
    let points = |objective: Rule| {
        let arms = arms_of(result, objective);
        let count = arms.iter().map(|arm| arm.steps.len()).max().unwrap_or(0);
        let point = |place: usize| {
            let step = arms.iter().find_map(|arm| arm.steps.get(place)).map(|step| step.step as f64)?;
            let values: Vec<f64> = arms.iter().filter_map(|arm| arm.steps.get(place)?.drift).collect();
            mean(&values).map(|drift| (step, drift.exp()))
        };
        (0..count).filter_map(point).collect()
    };
    figure(
        result,
        Text::new().with(crate::document::Style::Term("drift"), "Drift").say(" from the logged policy"),
        "average factor over the log's steps",
        "replay_steps",
        points,
    )
}

fn figure(
    result: &ReplayResult,
    title: Text,
    note: &'static str,
    file: &'static str,
    points: impl Fn(Rule) -> Vec<(f64, f64)>,
) -> Option<Figure> {
    let lead = leading(result);
    let series: Vec<Series> = result
        .summary
        .iter()
        .map(|row| {
            let colour = match row.objective {
                own if Some(own) == lead => PROOF,
                // Dashed, and told from the others where a state has no colour.
                Rule::Random => ONSET,
                own if result.summary.first().is_some_and(|first| first.objective == own) => SECOND,
                _ => LINE,
            };
            Series { colour, ..Series::new(row.objective.name(), points(row.objective)) }
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    let ends =
        series.iter().filter_map(|s| Some(format!("{} {}", s.name, words::sig(s.points.last()?.1, 3))));
    let label = ends.collect::<Vec<_>>().join(", ");
    let chart = Chart::Lines(Lines { series, ..Lines::default() });
    (!label.is_empty()).then(|| Figure { title, note: note.into(), label, chart, file: Some(file) })
}
