//! How far the replayed policy is from the one that wrote the log, and what is taken for the old
//! policy because of it.

use super::log::LoggedResponse;
use super::model::{Engine, Policy};
use super::sequences::logprobs;
use super::settings::ReplaySettings;
use super::stage::StepData;
use stapo_base::error::Result;
use stapo_result::replay::OldPolicy;
use stapo_result::replay::StepDrift;

/// Responses of a step that its drift is measured on at most, evenly spaced.
const MEASURED: usize = 128;

/// Old log-probabilities of a step, a list a response, and what was found.
pub fn old_logprobs(
    engine: &Engine,
    policy: &Policy,
    step: &StepData,
    number: i64,
    settings: &ReplaySettings,
) -> Result<(Vec<Vec<f32>>, StepDrift)> {
    let responses = &step.responses;
    let chosen = spread(responses.len());
    let sample: Vec<_> = chosen.iter().map(|i| step.sequences[*i].clone()).collect();
    let logged = responses.iter().all(|r| r.old.len() == r.len());
    let drift = if logged {
        let stats = engine.measure(policy, &sample)?;
        let now = logprobs(stats);
        mean_abs_log_ratio(chosen.iter().zip(&now).map(|(i, now)| (&responses[*i], now.as_slice())))
    } else {
        None
    };
    let recompute = !logged
        || match settings.old {
            OldPolicy::Log => false,
            OldPolicy::Recompute => true,
            OldPolicy::Auto => drift.is_none_or(|d| d >= settings.drift_limit),
        };
    let old = if recompute {
        logprobs(engine.measure(policy, &step.sequences)?)
    } else {
        responses.iter().map(|r| r.old.clone()).collect()
    };
    let found = StepDrift {
        step: number,
        drift,
        measured_responses: chosen.len() as u64,
        responses: responses.len() as u64,
        old: if recompute { OldPolicy::Recompute } else { OldPolicy::Log },
    };
    Ok((old, found))
}

fn spread(count: usize) -> Vec<usize> {
    let shown = count.min(MEASURED);
    (0..shown).map(|i| i * count / shown).collect()
}

/// Mean |ln π − ln π_logged| over trained tokens; `None` where there are none, or where it is not
/// a number.
fn mean_abs_log_ratio<'a>(pairs: impl Iterator<Item = (&'a LoggedResponse, &'a [f32])>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for (response, now) in pairs {
        for t in (0..response.len()).filter(|t| response.trained[*t]) {
            sum += (f64::from(now[t]) - f64::from(response.old[t])).abs();
            count += 1;
        }
    }
    let mean = sum / count as f64;
    mean.is_finite().then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_evenly() {
        assert_eq!(spread(3), [0, 1, 2]);
        assert!(spread(0).is_empty());
        let some = spread(1_000);
        assert_eq!((some.len(), some[0], some[127]), (128, 0, 992));
        assert!(some.windows(2).all(|w| w[1] > w[0]));
    }
}
