//! What is read: runs, each with its numbers by their canonical names.

use std::collections::BTreeMap;

use serde::Serialize;
use stapo_base::error::{Error, Result};

use crate::judge::parts::is_goal;
use crate::math::unique;
use crate::names::{CanonicalName, normalised};

/// The runs of a file, or of files that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curves {
    /// In the order of the file.
    pub runs: Vec<CurveRun>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CurveRun {
    /// As the file names it; empty where it names none.
    pub name: String,
    /// All steps with any number, ascending.
    pub steps: Vec<f64>,
    /// Numbers that have one column.
    pub series: BTreeMap<CanonicalName, Series>,
    /// Parts of the reward and measures of success, in the order of the file.
    pub parts: Vec<Series>,
    /// Scores on held-out prompts, in the order of the file.
    pub held_out: Vec<Series>,
    /// Numbers that are NaN or infinite from a step to the end.
    pub not_finite: Vec<(CanonicalName, f64)>,
    /// Whether the log begins where the training does.
    pub from_start: bool,
    /// Columns of numbers that nobody knows: candidates for `--map`.
    pub unknown: Vec<String>,
    /// What was left out or repaired.
    pub notes: Vec<String>,
}

/// A curve: finite values by ascending steps. Rows of a file need not fill each column (held-out scores come each
/// twentieth step), so each curve has steps of its own, and memory grows with what is logged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// The column of the file.
    pub column: String,
    /// Steps, ascending.
    pub steps: Vec<f64>,
    /// A value a step.
    pub values: Vec<f64>,
}

impl Curves {
    /// The run of this name, or the only one.
    pub fn run(&self, name: Option<&str>) -> Result<&CurveRun> {
        let names: Vec<&str> = self.runs.iter().map(|run| run.name.as_str()).collect();
        let usage = |message: String| Error::Usage {
            message,
            hint: format!("the runs are {}: choose one with --run NAME, or compare them", names.join(", ")),
        };
        match (name, &self.runs[..]) {
            (None, [only]) => Ok(only),
            (None, all) => Err(usage(format!("the file holds {} runs", all.len()))),
            (Some(name), all) => all
                .iter()
                .find(|run| run.name == name)
                .ok_or_else(|| usage(format!("no run is called {name}"))),
        }
    }
}

/// A step as the whole number that runs are held against each other at, if it is one.
#[must_use]
pub fn whole(step: f64) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation)]
    (step.fract() == 0.0 && step.abs() < 1e15).then_some(step as i64)
}

impl CurveRun {
    /// Parts that are shares of right answers, by their names and values.
    #[must_use]
    pub fn right_answers(&self) -> Vec<&Series> {
        let is_share = |part: &&Series| part.values.iter().all(|value| (0.0..=1.0).contains(value));
        self.parts.iter().filter(is_share).filter(|part| is_goal(&part.column)).collect()
    }
}

impl Series {
    /// Values at whole steps.
    pub fn at_whole_steps(&self) -> impl Iterator<Item = (i64, f64)> {
        self.steps.iter().zip(&self.values).filter_map(|(step, value)| Some((whole(*step)?, *value)))
    }

    /// Values that stay for rows and never come back were written again, not measured again: errors must not take 990
    /// rows of 99 values for 990.
    pub(crate) fn without_repeats(self, notes: &mut Vec<String>) -> Self {
        let rows = self.values.len();
        let is_new = |at: &usize| *at == 0 || self.values[*at] != self.values[at - 1];
        let held = (0..rows).filter(is_new).count();
        if rows < 10 || held < 5 || held * 10 > rows * 6 {
            return self;
        }
        let changed: Vec<usize> = (0..rows).filter(is_new).collect();
        let distinct = unique(changed.iter().map(|at| self.values[*at]).collect()).len();
        if distinct * 10 <= 9 * changed.len() {
            return self;
        }
        notes.push(format!("{}: {rows} rows hold {} values", normalised(&self.column), changed.len()));
        Self {
            steps: changed.iter().map(|at| self.steps[*at]).collect(),
            values: changed.iter().map(|at| self.values[*at]).collect(),
            column: self.column,
        }
    }

    /// Values at other (ascending) steps: straight lines between, the first and last value outside.
    pub(crate) fn at(&self, steps: &[f64]) -> Vec<f64> {
        let (Some(first), Some(last)) = (self.values.first(), self.values.last()) else {
            return vec![0.0; steps.len()];
        };
        let mut next = 0;
        let value = |step: &f64| {
            while next < self.steps.len() && self.steps[next] < *step {
                next += 1;
            }
            match next {
                0 => *first,
                n if n == self.steps.len() => *last,
                n if self.steps[n] == *step => self.values[n],
                n => {
                    let part = (step - self.steps[n - 1]) / (self.steps[n] - self.steps[n - 1]);
                    self.values[n - 1] + part * (self.values[n] - self.values[n - 1])
                }
            }
        };
        steps.iter().map(value).collect()
    }
}
