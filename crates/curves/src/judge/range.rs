//! The range of a series, and whether it learned within it.

use super::blocks::{Blocks, Gain};
use super::critical::Critical;
use crate::curves::{CurveRun, Series};
use crate::math::{greatest, least, mean, median, quantile};
use crate::names::CanonicalName;

/// The least and greatest that a mean can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub floor: f64,
    pub top: f64,
}

impl Range {
    pub fn size(self) -> f64 {
        self.top - self.floor
    }

    /// Of responses where their least and greatest reward is logged; else 0 to 1, or as far as the rows reach beyond.
    pub fn of(series: &Series, blocks: &Blocks<'_>, reward_of: Option<&CurveRun>) -> Self {
        let y = &series.values;
        let logged = |name| reward_of.and_then(|run| run.series.get(&name)).map(|series| &series.values);
        let (lowest, highest) = (least(&blocks.means), greatest(&blocks.means));
        if let (Some(least), Some(most)) =
            (logged(CanonicalName::RewardMin), logged(CanonicalName::RewardMax))
        {
            return Self {
                floor: -usual_beyond(least.iter().map(|value| -value), -lowest),
                top: usual_beyond(most.iter().copied(), highest),
            };
        }
        let (low, high) =
            if y.len() >= 32 { (quantile(y, 0.05), quantile(y, 0.95)) } else { (least(y), greatest(y)) };
        let most = greatest(y);
        let mut top = match most {
            _ if most <= 0.0 => 0.0,
            _ if most <= 1.1 => 1.0,
            _ => high.max(highest).max(1.0),
        };
        // The variance within a range is at most (top − mean)·(mean − floor) (Bhatia and Davis 2000).
        if let Some(std) = logged(CanonicalName::RewardStd)
            && most > 1.1
        {
            let mean = mean(y);
            top = top.max(mean + median(std).powi(2) / (mean - low.min(0.0)).max(1e-9));
        }
        Self { floor: lowest.min(0.0), top }
    }
}

/// The end of a scale from the extremes of rows. Those that no mean goes beyond can be it: of a rare success most rows
/// reach nothing. Of these the median: the end of a scale is reached often, and what is logged beyond it is rare.
fn usual_beyond(extremes: impl Iterator<Item = f64>, mean: f64) -> f64 {
    let beyond: Vec<f64> = extremes.filter(|value| *value > mean).collect();
    if beyond.is_empty() { mean } else { median(&beyond) }
}

/// Gains beyond chance, and whether one of them is learning: a tenth of the room, or twice the height with a twentieth
/// of the range.
pub(crate) fn learned(gains: &[Gain], rows: usize, range: Range) -> (Vec<Gain>, bool) {
    let critical = Critical::Gain.value(rows);
    let beyond: Vec<Gain> = gains.iter().copied().filter(|g| g.difference > critical * g.error).collect();
    let is_learning = beyond.iter().any(|gain| {
        let doubled = gain.end - range.floor >= 2.0 * (gain.start - range.floor);
        gain.difference >= 0.1 * (range.top - gain.start) || doubled && gain.difference >= 0.05 * range.size()
    });
    (beyond, is_learning)
}
