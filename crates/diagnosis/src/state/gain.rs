//! What a series has gained from its start to its end.

use super::fall::fifth;
use super::rules::{Rules, Z_BOUND, Z_RISES};
use super::strata::{Strata, Window, shrunk};
use serde::{Deserialize, Serialize};

/// Start, best and end of a series, at one mix of slices: the numbers that every sentence, panel and table shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Mean of the first tenth of the steps.
    pub start: f64,
    /// The greatest mean of a fifth of the steps.
    pub best: f64,
    /// First step of the bin where that fifth begins.
    pub best_step: i64,
    /// Mean of the last fifth of the steps.
    pub end: f64,
    /// From the start to the top of the range.
    pub room: f64,
    /// (end − start) / room.
    pub share: f64,
    /// 99 % lower bound of that.
    pub lower: f64,
    /// 99 % upper bound of that.
    pub upper: f64,
    /// Of the rise.
    pub z: f64,
    /// Mean of the whole run.
    pub mean: f64,
    /// Standard deviation of a response within its slice; `None` where only means of steps are known.
    pub sd: Option<f64>,
    /// Bottom of the range.
    pub floor: f64,
    /// Top of the range.
    pub top: f64,
    /// Share of the mix that both ends have.
    pub shared: f64,
}

impl Gain {
    /// Start to end rises with p < 10⁻³ by half a standard deviation, or to twice its height above the floor.
    #[must_use]
    pub fn rises(&self) -> bool {
        let half = self.sd.is_some_and(|sd| self.end - self.start > 0.5 * sd);
        self.z > Z_RISES && (half || self.end - self.floor > 2.0 * (self.start - self.floor))
    }

    /// The bounds say that a tenth of the room was gained, or it rises.
    #[must_use]
    pub fn is_learned(&self, rules: &Rules) -> bool {
        self.lower > 0.1 || rules.slow_rise && self.rises()
    }

    /// The run lies within a tenth of the top.
    #[must_use]
    pub fn is_at_its_best(&self, rules: &Rules) -> bool {
        let level = if rules.mean_at_best { self.mean } else { self.start };
        self.top - level < 0.1 * (self.top - self.floor)
    }
}

impl Strata {
    /// From the first tenth to the last fifth, over the slices that both have.
    pub fn gain(&self, floor: f64, top: f64, sd: Option<f64>) -> Gain {
        let bins = self.len();
        let (tenth, fifth) = ((bins / 10).max(1), fifth(bins));
        let (first, last) = self.ends(tenth, fifth);
        let d = self.difference(&first, &last);
        let shared = |k: usize| first[k].0 > 0.0 && last[k].0 > 0.0;
        let weight = (0..first.len()).filter(|k| shared(*k)).map(|k| self.weights[k]).sum::<f64>().max(1e-12);
        let (mut variance, mut of_steps) = (0.0, 0.0);
        for (window, steps) in [(&first, tenth), (&last, fifth)] {
            let mut chance = 0.0;
            for k in (0..first.len()).filter(|k| shared(*k)) {
                let (n, s) = window[k];
                let w = self.weights[k] / weight;
                let p = shrunk(self.place(s / n), n / self.dispersion[k]);
                variance += w * w * p * (1.0 - p) * self.dispersion[k] / n;
                chance += w * p * (1.0 - p);
            }
            variance += self.scatter_of(steps, chance);
            of_steps += 1.0 / steps as f64;
        }
        let error = Z_BOUND * self.span * variance.sqrt();
        let room = (top - d.first).max(1e-9);
        let gained = d.second - d.first;
        let (best, best_step) = self.best(&last, d.second);
        let mut gain = Gain {
            start: d.first,
            best: best.max(d.first),
            best_step: if d.first > best { self.steps[0] } else { best_step },
            end: d.second,
            room,
            share: gained / room,
            lower: (gained - error) / room,
            upper: (gained + error) / room,
            z: -d.angle / (d.variance + self.scatter_at(d.first, d.second) * of_steps).sqrt(),
            mean: self.mean_of(&self.window(0, bins)).0,
            sd,
            floor,
            top,
            shared: d.shared,
        };
        if d.shared <= 0.0 {
            // Ends that share no slice cannot be compared: any gain is possible. (The prototype takes both for 0.)
            let (start, end) = (self.mean_of(&first).0, self.mean_of(&last).0);
            gain = Gain {
                start,
                end,
                best: start.max(end),
                share: 0.0,
                lower: -1.0,
                upper: 1.0,
                z: 0.0,
                ..gain
            };
        }
        gain
    }

    /// First and last bins; of a slice that some bins lack, its own first tenth and last fifth.
    fn ends(&self, tenth: usize, fifth: usize) -> (Window, Window) {
        let bins = self.len();
        let (mut first, mut last) = (self.window(0, tenth), self.window(bins - fifth, bins));
        for (k, groups) in self.groups.iter().enumerate() {
            let at: Vec<usize> = (0..bins).filter(|bin| groups[*bin] > 0.0).collect();
            if self.rules().own_ends && at.len() >= 2 && at.len() < bins {
                let sum = |bins: &[usize]| {
                    bins.iter().fold((0.0, 0.0), |(n, s), bin| (n + groups[*bin], s + self.means[k][*bin]))
                };
                first[k] = sum(&at[..(at.len() / 10).max(1)]);
                last[k] = sum(&at[at.len() - super::fall::fifth(at.len())..]);
            }
        }
        (first, last)
    }

    /// The greatest mean over as many bins as the end has, of the slices that the end has; the end itself at least.
    fn best(&self, last: &Window, end: f64) -> (f64, i64) {
        let (bins, width) = (self.len(), fifth(self.len()));
        let mut best = (end, self.steps[bins - width]);
        for at in 0..=bins - width {
            let d = self.difference(&self.window(at, at + width), last);
            if d.shared > 0.5 && d.first > best.0 {
                best = (d.first, self.steps[at]);
            }
        }
        best
    }
}
