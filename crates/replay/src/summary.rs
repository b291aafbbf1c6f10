//! Objectives over their seeds, and the differences between them.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::settings::ReplaySettings;
use stapo_base::stats::bootstrap::t_interval;
use stapo_base::stats::holm::adjusted;
use stapo_base::stats::wilcoxon::signed_rank;
use stapo_framework::rules::Rule;
use stapo_result::replay::{ArmResult, ArmSummary, Difference, Metric, MetricSummary};

/// Confidence of intervals.
const CONFIDENCE: f64 = 0.95;
/// Adjusted p below which a difference counts as supported.
const ALPHA: f64 = 0.05;
/// Seeds below which no difference counts as supported: two cannot show how much seeds vary.
const FEWEST_PAIRS: u64 = 3;
/// Objectives that others are measured against, where they are among the arms, beside the first.
const CONTROLS: [Rule; 1] = [Rule::Random];

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
        let interval = t_interval(&values, CONFIDENCE).map(|[low, high]| (high - low) / 2.0);
        (!values.is_empty()).then_some(MetricSummary { metric, mean, interval, values })
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

/// Every objective against the first one and against the random control, seed by seed.
pub fn differences(arms: &[ArmResult], settings: &ReplaySettings) -> Vec<Difference> {
    let objectives = &settings.objectives;
    let mut found = Vec::new();
    for (place, objective) in objectives.iter().enumerate() {
        for (other, baseline) in objectives.iter().enumerate() {
            let against_first = other == 0 && place > 0;
            let against_control = CONTROLS.contains(baseline) && other != 0 && other != place;
            if against_first || (against_control && place > 0) {
                found.extend(
                    Metric::ALL.into_iter().filter_map(|m| difference(arms, *objective, *baseline, m)),
                );
            }
        }
    }
    let raw: Vec<f64> = found.iter().map(|d| d.p_value.unwrap_or(f64::NAN)).collect();
    for (difference, p) in found.iter_mut().zip(adjusted(&raw)) {
        difference.p_adjusted = (!p.is_nan()).then_some(p);
        difference.supported = p < ALPHA && difference.pairs >= FEWEST_PAIRS;
    }
    found
}

fn difference(arms: &[ArmResult], objective: Rule, baseline: Rule, metric: Metric) -> Option<Difference> {
    let value = |rule: Rule, seed: u64| {
        let arm = arms.iter().find(|a| a.objective == rule && a.seed == seed && a.stopped.is_none())?;
        metric.of(arm)
    };
    let seeds = arms.iter().map(|a| a.seed).max().unwrap_or(0);
    let pairs = (1..=seeds).filter_map(|seed| Some(value(objective, seed)? - value(baseline, seed)?));
    let values: Vec<f64> = pairs.collect();
    if values.is_empty() {
        return None;
    }
    Some(Difference {
        objective,
        baseline,
        metric,
        pairs: values.len() as u64,
        mean: values.iter().sum::<f64>() / values.len() as f64,
        interval: t_interval(&values, CONFIDENCE).map(|[low, high]| (low, high)),
        p_value: paired_t(&values),
        p_signed_rank: (values.len() > 1).then(|| signed_rank(&values)),
        p_adjusted: None,
        supported: false,
    })
}

/// Two-sided paired t-test of differences against 0; `None` where they do not vary.
fn paired_t(differences: &[f64]) -> Option<f64> {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
    if differences.len() < 2 || variance <= 0.0 {
        return None;
    }
    let t = Some(mean / (variance / n).sqrt()).filter(|t| t.is_finite())?;
    Some(2.0 * StudentsT::new(0.0, 1.0, n - 1.0).ok()?.sf(t.abs()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// scipy.stats.ttest_1samp([0.1, 0.3, 0.2, 0.5, -0.1], 0).pvalue
    #[test]
    fn same_as_scipy() {
        let p = paired_t(&[0.1, 0.3, 0.2, 0.5, -0.1]).unwrap();
        assert!((p - 0.116_117).abs() < 1e-6, "{p}");
        assert_eq!(paired_t(&[0.1]), None);
        assert_eq!(paired_t(&[0.1, 0.1]), None);
    }
}
