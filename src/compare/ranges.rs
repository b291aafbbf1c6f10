//! How far a reward or a part of it can go: what single responses got, in all runs of both arms.

use super::NamedRun;
use super::result::{Family, MetricRow};

/// Notes the range of a metric that has one: the lowest and highest of both arms, whichever is the baseline.
pub fn note(row: &mut MetricRow, arms: [&[NamedRun]; 2]) {
    if !matches!(row.family, Family::Framework | Family::Questions) {
        return;
    }
    let is_reward = row.name == "reward" || row.name.starts_with("reward/");
    let signals = arms.into_iter().flatten().flat_map(|run| &run.analysis.diagnosis.signals);
    let ranges = signals.filter(|signal| is_reward && signal.name == row.name).filter_map(|s| s.range);
    row.range = ranges.reduce(|[low, high], one| [low.min(one[0]), high.max(one[1])]);
}
