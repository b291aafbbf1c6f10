//! The entropy of each arm minus the baseline's over steps.

use super::arms::{self, Chosen, Line, Point, chosen, means, of_runs, thinned};
use super::look::label;
use super::over_steps::ink;
use crate::charts::series::largest;
use crate::charts::{Chart, Drawn, HEIGHT, Missing};
use crate::draw::{Axis, Canvas, Scenes, ticks};
use stapo_base::tables::{Columns, DataFrame};
use stapo_compare::Comparison;
use stapo_compare::metric_names::ENTROPY;
use stapo_compare::result::Arm;

const TITLE: &str = "Entropy gap to the baseline";

/// A line for each arm that has steps in common with the baseline.
pub fn draw(comparison: &Comparison) -> Drawn {
    let drawn = chosen(comparison);
    let lines: Vec<Line> = drawn.iter().filter_map(|arm| line(comparison, arm)).collect();
    if drawn.iter().skip(1).all(|arm| line(comparison, arm).is_none()) {
        return Err(Missing::new(TITLE, "two steps or more that a run shares with the first"));
    }
    let sizes = lines.iter().flat_map(|l| &l.points).flat_map(|p| p.1).map(f64::abs);
    let size = largest(sizes).unwrap_or(1.0).max(1e-6) * 1.1;
    let axis = Axis::new("difference (nats)", -size..size, ticks::linear(-size, size, 6));
    Ok(Chart {
        name: "compare_gap",
        title: TITLE.into(),
        reading: "Scatter about zero is no difference; a gap that opens and stays is one of these runs, and neighbouring steps are then not independent.".into(),
        notes: arms::notes(comparison),
        scenes: Scenes::draw(|width| ink(Canvas::new(width, HEIGHT - 80, TITLE), &lines, &axis)),
        table: table(comparison),
    })
}

/// The entropy of an arm minus the mean of the baseline's runs, at the steps that both have.
fn gaps(comparison: &Comparison, arm: &Arm) -> Vec<Point<i64>> {
    let of = |arm: &Arm| means(&of_runs(&comparison.series, ENTROPY, arm));
    let base = comparison.arms.first().map(of).unwrap_or_default();
    let at = |step: i64| base.binary_search_by_key(&step, |p| p.0).ok().map(|i| base[i].1[0]);
    let minus = |(step, values): Point<i64>| at(step).map(|base| (step, values.map(|v| v - base)));
    of(arm).into_iter().filter_map(minus).collect()
}

/// `None` where there is nothing to see: fewer than two steps, or a baseline of one run, which is zero.
fn line(comparison: &Comparison, of: &Chosen<'_>) -> Option<Line> {
    let first = label(&comparison.arms.first()?.name);
    let (points, is_mean) = (gaps(comparison, of.arm), of.arm.runs.len() > 1);
    let label = match of.index {
        0 => format!("{first}: its runs about their mean"),
        _ => format!("{} minus {first}", label(&of.arm.name)),
    };
    let line = Line { label, pen: of.pen, mark: of.mark, points: thinned(&points), is_mean };
    (points.len() > 1 && (of.index > 0 || is_mean)).then_some(line)
}

fn table(comparison: &Comparison) -> DataFrame {
    let arms = comparison.arms.iter();
    let rows: Vec<(&str, Point<i64>)> = arms
        .flat_map(|arm| gaps(comparison, arm).into_iter().map(move |point| (arm.name.as_str(), point)))
        .collect();
    Columns::of(&rows)
        .text("arm", |r| r.0)
        .int("step", |r| r.1.0)
        .float("difference", |r| r.1.1[0])
        .float("smallest", |r| r.1.1[1])
        .float("largest", |r| r.1.1[2])
        .frame()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_compare::result::Series;

    #[test]
    fn the_baseline_is_the_mean_of_its_runs() {
        let series = |run: &str, value: f64| Series {
            run: run.into(),
            metric: "entropy".into(),
            points: vec![(0, value), (1, value + 0.5)],
        };
        let arm =
            |name: &str, runs: [&str; 2]| Arm { name: name.into(), runs: runs.map(String::from).to_vec() };
        let comparison = Comparison {
            arms: vec![arm("a", ["a0", "a1"]), arm("b", ["b0", "b1"])],
            series: vec![series("a0", 1.0), series("a1", 3.0), series("b0", 5.0), series("b1", 5.0)],
            ..Comparison::default()
        };
        assert_eq!(gaps(&comparison, &comparison.arms[0]), [(0, [0.0, -1.0, 1.0]), (1, [0.0, -1.0, 1.0])]);
        assert_eq!(gaps(&comparison, &comparison.arms[1]), [(0, [3.0; 3]), (1, [3.0; 3])]);
    }
}
