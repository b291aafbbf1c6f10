//! Objectives over their seeds.

use super::settings::ReplaySettings;
use stapo_framework::rules::Rule;
use stapo_result::replay::{ArmResult, ArmSummary, Metric, MetricSummary};

/// One row an objective, in the order of the arms.
pub fn summarise(arms: &[ArmResult], settings: &ReplaySettings) -> Vec<ArmSummary> {
    settings.objectives.iter().filter_map(|objective| one(*objective, arms)).collect()
}

fn one(objective: Rule, arms: &[ArmResult]) -> Option<ArmSummary> {
    let mine: Vec<&ArmResult> = arms.iter().filter(|a| a.objective == objective).collect();
    let first = mine.first()?;
    let finished: Vec<&ArmResult> = mine.iter().copied().filter(|a| a.stopped.is_none()).collect();
    let sum = |value: fn(&ArmResult) -> f64| finished.iter().map(|a| value(a)).sum::<f64>();
    let silences = finished.iter().any(|a| a.updates.iter().any(|u| u.counts.silenced.is_some()));
    let silenced = sum(|a| a.updates.iter().filter_map(|u| u.counts.silenced).sum::<u64>() as f64);
    let tokens = sum(|a| a.updates.iter().map(|u| u.tokens).sum::<u64>() as f64);
    let metrics = Metric::ALL.into_iter().filter_map(|metric| {
        let values: Vec<f64> = finished.iter().filter_map(|a| metric.of(a)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (!values.is_empty()).then_some(MetricSummary { metric, mean, values })
    });
    Some(ArmSummary {
        objective,
        rule: first.rule.clone(),
        finished: finished.len() as u64,
        stopped: (mine.len() - finished.len()) as u64,
        silenced: silences.then(|| silenced / finished.len() as f64),
        silenced_share: (silences && tokens > 0.0).then(|| silenced / tokens),
        metrics: metrics.collect(),
    })
}
