//! One signal over the steps, and what it means when it moves.

use stapo_base::stats::sustained::{Change, Direction, Point, sustained};
use stapo_result::{Signal, SignalName};

/// What it means when a signal moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What is trained for: a fall is damage.
    Goal,
    /// What the reward is less by: a rise is damage.
    Cost,
    /// A rise is damage.
    Harm,
    /// Gone or out of proportion is damage.
    Entropy,
    /// A sign, never damage by itself.
    Sign,
}

/// A signal with what is needed to judge it.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: SignalName,
    /// What a change means.
    pub role: Role,
    /// Its values.
    pub points: Vec<Point>,
    /// Whether changes are looked for in its logarithm.
    pub log: bool,
    /// Below this, values are what rounding leaves: changes among them are none.
    pub rounding: f64,
    /// Earlier steps mean something else and are not judged.
    pub judged_from: Option<i64>,
    /// The ends of the values of single responses (all but the extreme hundredths), and the standard
    /// deviation of these.
    pub range: Option<[f64; 3]>,
}

impl Series {
    /// A signal without values.
    pub fn new(name: SignalName, role: Role) -> Self {
        Self { name, role, points: Vec::new(), log: false, rounding: 0.0, judged_from: None, range: None }
    }

    /// The change in one direction that lasts to the end.
    pub fn change(&self, direction: Direction) -> Option<Change> {
        let first = self.judged_from.map_or(0, |from| self.points.partition_point(|p| p.step < from));
        let judged = &self.points[first..];
        if !self.log {
            return sustained(judged, direction);
        }
        let positive = judged.iter().filter(|p| p.value > 0.0);
        let points: Vec<Point> = positive.map(|p| Point { value: p.value.ln(), ..*p }).collect();
        let is_rounding = |change: &Change| change.before.max(change.after) < self.rounding.ln();
        let change = sustained(&points, direction).filter(|change| !is_rounding(change))?;
        Some(Change { before: change.before.exp(), after: change.after.exp(), ..change })
    }

    /// As it is shown.
    pub fn shown(&self) -> Signal {
        let points = self.points.iter().map(|p| (p.step, p.value, p.error)).collect();
        let range = self.range.map(|[low, high, _]| [low, high]);
        Signal { name: self.name.clone(), points, range }
    }

    /// The mean of the last quarter of the steps.
    pub fn end(&self) -> Option<f64> {
        self.ends().map(|[_, last]| last.value)
    }

    /// The mean of the first, and of the last quarter of the steps.
    pub fn ends(&self) -> Option<[Level; 2]> {
        let all = self.points.len();
        let quarter = (all / 4).max(1).min(all);
        Some([Level::of(&self.points[..quarter])?, Level::of(&self.points[all - quarter..])?])
    }
}

/// Steps on either side of one that a level is taken over, at the most: what came much later is another story.
const AROUND: usize = 5;

impl Series {
    /// The mean of as many steps before a step as from it on.
    pub fn around(&self, step: i64) -> Option<[Level; 2]> {
        let at = self.points.partition_point(|point| point.step < step);
        let steps = at.min(self.points.len() - at).min(AROUND);
        Some([Level::of(&self.points[at - steps..at])?, Level::of(&self.points[at..at + steps])?])
    }
}

/// The mean of some steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The mean.
    pub value: f64,
    /// Its standard error by sampling; infinite where that is not known.
    pub error: f64,
}

impl Level {
    fn of(points: &[Point]) -> Option<Self> {
        let n = points.len() as f64;
        let squares: f64 = points.iter().map(|p| p.error.map_or(f64::INFINITY, |error| error * error)).sum();
        let value = points.iter().map(|p| p.value).sum::<f64>() / n;
        (!points.is_empty()).then(|| Self { value, error: squares.sqrt() / n })
    }
}
