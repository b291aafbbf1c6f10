//! The arms that charts draw: which, how they look, and the line of each: the mean of its runs, with
//! their range as a band.

use std::collections::BTreeMap;

use super::look::{RUNS, label, look};
use crate::charts::series::{POINTS, draw_series};
use crate::draw::{Mark, Pen, Plot};
use stapo_compare::Comparison;
use stapo_compare::result::{Arm, Series};

/// An arm that is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// Its place among all arms.
    pub index: usize,
    /// The arm.
    pub arm: &'a Arm,
    pub pen: Pen,
    pub mark: Mark,
}

/// The arms that are drawn: the baseline, then those that differ from it, then the others, until no
/// more could be told apart.
pub fn chosen(comparison: &Comparison) -> Vec<Chosen<'_>> {
    let differs = |arm: &Arm| comparison.metrics.iter().any(|r| r.significant && r.run == arm.name);
    let mut arms: Vec<(usize, &Arm)> = comparison.arms.iter().enumerate().collect();
    arms.sort_by_key(|(index, arm)| *index > 0 && !differs(arm));
    let looked = arms.into_iter().take(RUNS).enumerate().map(|(place, (index, arm))| {
        let (pen, mark) = look(place);
        Chosen { index, arm, pen, mark }
    });
    looked.collect()
}

/// Whether an arm is of several runs, so that its line is a mean.
pub fn has_seeds(comparison: &Comparison) -> bool {
    comparison.arms.iter().any(|arm| arm.runs.len() > 1)
}

/// What charts of lines say about them: what a line is, and how many are not drawn.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mean = "A line is the mean of an arm’s runs at the steps that all of them have (without such steps, of those that have one); its band is their range.";
    has_seeds(comparison).then(|| mean.to_owned()).into_iter().chain(left_out(comparison)).collect()
}

/// What to say where there are more arms than are drawn.
pub fn left_out(comparison: &Comparison) -> Option<String> {
    let (all, noun) = (comparison.arms.len(), if has_seeds(comparison) { "arms" } else { "runs" });
    let said = "the baseline, and first those that differ from it; all are in the numbers";
    (all > RUNS).then(|| format!("{RUNS} of {all} {noun} are drawn: {said}."))
}

/// A place of a line: x, then mean, smallest and largest of the runs.
pub type Point<X> = (X, [f64; 3]);

/// The line of an arm.
#[derive(Clone, Debug)]
pub struct Line {
    pub label: String,
    pub pen: Pen,
    pub mark: Mark,
    pub points: Vec<Point<f64>>,
    /// Whether it is of several runs.
    pub is_mean: bool,
}

impl Line {
    /// The means alone.
    pub fn means(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|(x, [mean, ..])| (*x, *mean)).collect()
    }

    /// The line, with marks where there are few.
    pub fn draw_line(&self, plot: &Plot) {
        draw_series(plot, &self.means(), self.pen, self.mark);
    }

    /// The range of the runs, where there are several.
    pub fn draw_band(&self, plot: &Plot) {
        if self.is_mean {
            let band: Vec<_> = self.points.iter().map(|(x, [_, low, high])| (*x, *low, *high)).collect();
            plot.band(&band, self.pen.alpha(0.14));
        }
    }
}

/// The lines of a metric over steps; arms without it are left out.
pub fn lines(comparison: &Comparison, series: &[Series], metric: &str) -> Vec<Line> {
    let of_arm = |chosen: Chosen<'_>| {
        let points = means(&of_runs(series, metric, chosen.arm));
        let is_mean = chosen.arm.runs.len() > 1;
        (!points.is_empty()).then(|| Line {
            label: label(&chosen.arm.name),
            pen: chosen.pen,
            mark: chosen.mark,
            points: thinned(&points),
            is_mean,
        })
    };
    chosen(comparison).into_iter().filter_map(of_arm).collect()
}

/// The series of a metric of the runs of an arm.
pub fn of_runs<'a>(series: &'a [Series], metric: &str, arm: &Arm) -> Vec<&'a [(i64, f64)]> {
    let is_of = |s: &&Series| s.metric == metric && !s.points.is_empty() && arm.runs.contains(&s.run);
    series.iter().filter(is_of).map(|s| s.points.as_slice()).collect()
}

/// Mean and range of the runs at each step that all of them have; where there is none, at every step,
/// of those that have it.
pub fn means(runs: &[&[(i64, f64)]]) -> Vec<Point<i64>> {
    let mut steps: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (step, value) in runs.iter().copied().flatten() {
        steps.entry(*step).or_default().push(*value);
    }
    if steps.values().any(|values| values.len() == runs.len()) {
        steps.retain(|_, values| values.len() == runs.len());
    }
    steps.into_iter().map(|(step, values)| (step, summary(&values))).collect()
}

/// Mean, smallest and largest.
pub fn summary(values: &[f64]) -> [f64; 3] {
    let fold = |start, pick: fn(f64, f64) -> f64| values.iter().copied().fold(start, pick);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    [mean, fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max)]
}

/// Points for a line: neighbours are taken together where there are too many, their means averaged, their range
/// the whole one.
pub fn thinned(points: &[Point<i64>]) -> Vec<Point<f64>> {
    let stride = points.len().div_ceil(POINTS).max(1);
    let mean = |part: &[Point<i64>]| {
        let n = part.len() as f64;
        let mean = part.iter().map(|p| p.1[0]).sum::<f64>() / n;
        let low = part.iter().map(|p| p.1[1]).fold(f64::INFINITY, f64::min);
        let high = part.iter().map(|p| p.1[2]).fold(f64::NEG_INFINITY, f64::max);
        (part.iter().map(|p| p.0 as f64).sum::<f64>() / n, [mean, low, high])
    };
    points.chunks(stride).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_compare::result::MetricRow;

    /// Ten arms of two seeds each; the last one differs.
    fn comparison() -> Comparison {
        let arms = (0..10).map(|arm| {
            let runs = [0, 1].map(|seed| format!("arm{arm}_s{seed}")).to_vec();
            Arm { name: format!("arm{arm}"), runs }
        });
        let differing = MetricRow { run: "arm9".into(), significant: true, ..MetricRow::default() };
        Comparison { arms: arms.collect(), metrics: vec![differing], ..Comparison::default() }
    }

    #[test]
    fn the_baseline_is_drawn_first_then_what_differs() {
        let comparison = comparison();
        let names: Vec<&str> = chosen(&comparison).iter().map(|c| c.arm.name.as_str()).collect();
        assert_eq!(names, ["arm0", "arm9", "arm1", "arm2", "arm3", "arm4", "arm5", "arm6"]);
        assert!(left_out(&comparison).is_some_and(|said| said.starts_with("8 of 10 arms are drawn")));
    }

    #[test]
    fn the_line_of_an_arm_is_the_mean_of_its_runs() {
        let series = |run: &str, points: &[(i64, f64)]| Series {
            run: run.into(),
            metric: "entropy".into(),
            points: points.to_vec(),
        };
        let all = [
            series("arm0_s0", &[(0, 1.0), (1, 2.0), (2, 9.0)]),
            series("arm0_s1", &[(0, 3.0), (1, 2.0)]),
            series("arm1_s0", &[(0, 7.0)]),
        ];
        let found = lines(&comparison(), &all, "entropy");
        assert_eq!(found.len(), 2);
        // Step 2, which one seed alone has, is no part of the mean.
        assert_eq!(found[0].points, [(0.0, [2.0, 1.0, 3.0]), (1.0, [2.0, 2.0, 2.0])]);
        assert_eq!((found[0].label.as_str(), found[0].is_mean), ("arm0", true));
    }

    #[test]
    fn the_band_of_many_steps_is_the_whole_range() {
        let spread = |step: i64| if step == 1 { [0.5, -9.0, 9.0] } else { [0.5, 0.0, 1.0] };
        let points: Vec<Point<i64>> = (0..2 * POINTS as i64).map(|step| (step, spread(step))).collect();
        let drawn = thinned(&points);
        assert_eq!(drawn.len(), POINTS);
        assert_eq!((drawn[0], drawn[1].1), ((0.5, [0.5, -9.0, 9.0]), [0.5, 0.0, 1.0]));
    }

    #[test]
    fn runs_without_a_common_step_still_have_a_line() {
        assert_eq!(means(&[&[(0, 1.0)], &[(1, 2.0)]]), [(0, [1.0, 1.0, 1.0]), (1, [2.0, 2.0, 2.0])]);
    }
}
