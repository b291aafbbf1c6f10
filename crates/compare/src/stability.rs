//! How steady the entropy of a run is.

use super::result::Stability;
use stapo_base::stats::trend;
use stapo_result::RunCore;
use stapo_result::{RunState, StepRow};

/// The stability of a run, from the mean entropy of its steps.
#[must_use]
pub fn stability(analysis: &RunCore) -> Stability {
    let known = |row: &StepRow| Some((row.step, row.mean_entropy?));
    let entropy: Vec<(i64, f64)> = analysis.steps.iter().filter_map(known).collect();
    let points: Vec<(f64, f64)> = entropy.iter().map(|(step, h)| (*step as f64, *h)).collect();
    let values = || entropy.iter().map(|(_, h)| *h);
    let moves = entropy.len() > 1;
    // One definition of collapse: the one of the analysis.
    let collapsed = analysis.diagnosis.state == RunState::Collapsed;
    let lost = || analysis.diagnosis.damage.iter().map(|damage| damage.from_step).min();
    Stability {
        first_entropy: entropy.first().map(|e| e.1),
        last_entropy: entropy.last().map(|e| e.1),
        spread: trend::spread_about_trend(&points),
        drawdown: moves.then(|| trend::drawdown(values())),
        run_up: moves.then(|| trend::run_up(values())),
        slope_per_100_steps: trend::theil_sen(&points).map(|slope| slope * 100.0),
        collapse_step: collapsed.then(lost).flatten(),
        late_reward: late_reward(&analysis.steps),
    }
}

/// Mean reward of the last third of the steps, by responses.
fn late_reward(steps: &[StepRow]) -> Option<f64> {
    let late = &steps[steps.len() - steps.len().div_ceil(3)..];
    let known: Vec<(f64, f64)> =
        late.iter().filter_map(|row| Some((row.mean_reward?, row.responses as f64))).collect();
    let responses = known.iter().map(|k| k.1).sum::<f64>();
    (responses > 0.0).then(|| known.iter().map(|(reward, n)| reward * n).sum::<f64>() / responses)
}
