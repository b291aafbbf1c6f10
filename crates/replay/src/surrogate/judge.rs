//! How near a fit is to the log.

use crate::log::{LoggedResponse, Survey, Windows};
use crate::model::{Engine, Policy, TokenStats};
use crate::sequences::sequences;
use crate::settings::ReplaySettings;
use stapo_base::error::Result;
use stapo_base::stats::correlation::PearsonSums;
use stapo_framework::rules::BASE_CLIP;
use stapo_result::replay::SurrogateFit;

/// Responses that a fit is judged on at most.
const WATCHED: usize = 256;

/// Judges a fit on responses that it does not train on; only where nothing is held out, on some that it
/// does.
pub struct Judge {
    responses: Vec<LoggedResponse>,
    held_out: bool,
    correlation: f64,
}

impl Judge {
    /// Takes the responses to judge on.
    pub fn new(survey: &Survey, windows: &mut Windows<'_>, settings: &ReplaySettings) -> Result<Self> {
        let held = windows.holdout()?;
        let held_out = !held.is_empty();
        let responses = match held_out {
            true => {
                let stride = held.len().div_ceil(WATCHED).max(1);
                held.into_iter().step_by(stride).collect()
            }
            false => of_all_steps(survey, windows)?,
        };
        Ok(Self { responses, held_out, correlation: settings.surrogate_correlation })
    }

    /// How near a policy is after so many updates.
    pub fn look(&self, engine: &Engine, policy: &Policy, updates: u64) -> Result<SurrogateFit> {
        let stats: Vec<TokenStats> = engine.measure(policy, &sequences(&self.responses))?;
        let mut sums = PearsonSums::new(0.0, 0.0);
        let (mut loss, mut tokens) = (0.0, 0_u64);
        let (mut distance, mut compared) = (0.0, 0_u64);
        for (response, stats) in self.responses.iter().zip(&stats) {
            for t in (0..stats.len()).filter(|t| response.trained[*t]) {
                let logprob = f64::from(stats.logprob[t]);
                loss -= logprob;
                tokens += 1;
                if let Some(logged) = response.old.get(t).filter(|logged| logged.is_finite()) {
                    sums.add(logprob, f64::from(*logged));
                    distance += (logprob - f64::from(*logged)).abs();
                    compared += 1;
                }
            }
        }
        let (correlation, error) = (sums.correlation(), (compared > 0).then(|| distance / compared as f64));
        Ok(SurrogateFit {
            updates,
            cross_entropy: loss / tokens.max(1) as f64,
            correlation,
            mean_abs_error: error,
            held_out: self.held_out,
            tokens,
            reached: correlation.is_some_and(|c| c >= self.correlation)
                && error.is_some_and(|e| e <= largest_error()),
        })
    }
}

/// Mean |ln p − logged ln p| that a surrogate may have: at more, the token of a perfect policy would look
/// like one that the base objective clips.
fn largest_error() -> f64 {
    BASE_CLIP.high.ln_1p()
}

/// Responses spread over all steps.
fn of_all_steps(survey: &Survey, windows: &mut Windows<'_>) -> Result<Vec<LoggedResponse>> {
    let steps = survey.steps.len();
    let each = WATCHED.div_ceil(steps).max(1);
    let mut watched = Vec::new();
    for index in (0..steps).step_by(steps.div_ceil(WATCHED)) {
        let responses = windows.step(index)?;
        let stride = responses.len().div_ceil(each).max(1);
        watched.extend(responses.iter().step_by(stride).cloned());
    }
    Ok(watched)
}

/// Nearer to the log; where the log has no log-probabilities, of the smaller cross-entropy.
pub fn is_better(fit: &SurrogateFit, known: &SurrogateFit) -> bool {
    match (fit.mean_abs_error, known.mean_abs_error) {
        (Some(new), Some(old)) => new < old,
        _ => fit.cross_entropy < known.cross_entropy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_high_correlation_alone_is_not_near_the_log() {
        let fit = |error: f64, cross_entropy: f64| SurrogateFit {
            updates: 1,
            cross_entropy,
            correlation: Some(0.94),
            mean_abs_error: Some(error),
            held_out: true,
            tokens: 1,
            reached: false,
        };
        assert!(largest_error() > 0.2 && largest_error() < 0.3);
        assert!(is_better(&fit(0.2, 3.0), &fit(1.0, 2.0)));
        assert!(!is_better(&fit(1.0, 2.0), &fit(0.2, 3.0)));
    }
}
