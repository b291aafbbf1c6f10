//! Entropy or reward that is gone, and batches that teach nothing.

use super::series::{FEWEST_STEPS, ends, evidence, median, series, since};
use crate::analyze::collect::Collected;
use crate::analyze::result::{RunCore, StepRow, Warning, WarningCode};

/// Entropy below this part of its beginning has collapsed.
const COLLAPSED_PART: f64 = 0.15;
/// Entropy below this many nats has collapsed, wherever it began.
const COLLAPSED_ENTROPY: f64 = 0.01;
/// Entropy above this multiple of its beginning, and above by so many nats, has exploded.
const EXPLODED_MULTIPLE: f64 = 2.5;
const EXPLODED_RISE: f64 = 0.5;
/// A reward that lost this part of its best, and this much, has collapsed.
const LOST_PART: f64 = 0.5;
const LOST_REWARD: f64 = 0.1;
/// Steps that the best reward is a median of.
const WINDOW: usize = 3;

/// Entropy that fell to almost nothing, or rose out of proportion.
pub fn entropy(steps: &[StepRow]) -> Option<Warning> {
    let entropy = series(steps, |row| row.mean_entropy);
    if entropy.len() < FEWEST_STEPS {
        return None;
    }
    let (first, last) = ends(&entropy);
    let floor = (COLLAPSED_PART * first).max(COLLAPSED_ENTROPY);
    let ceiling = (EXPLODED_MULTIPLE * first).max(first + EXPLODED_RISE);
    if last < floor && first > last {
        let step = since(&entropy, |h| h < floor);
        return Some(Warning {
            code: WarningCode::EntropyCollapse,
            message: format!("entropy collapsed: from {first:.3} to {last:.3} nats{}", from_step(step)),
            hint: "the policy no longer explores: restart before that step with a higher upper clip, \
                   an entropy bonus or a KL term, and look at the spurious tokens before it"
                .into(),
            evidence: vec![
                evidence(entropy.first().map(|e| e.0), "mean_entropy", first),
                evidence(step, "mean_entropy", last),
            ],
        });
    }
    (last > ceiling).then(|| {
        let step = since(&entropy, |h| h > ceiling);
        Warning {
            code: WarningCode::EntropyExplosion,
            message: format!("entropy exploded: from {first:.3} to {last:.3} nats{}", from_step(step)),
            hint: "the policy drifts towards noise: lower the learning rate, check the advantages and \
                   the mismatch between trainer and sampler, and look at the energy spikes"
                .into(),
            evidence: vec![
                evidence(entropy.first().map(|e| e.0), "mean_entropy", first),
                evidence(step, "mean_entropy", last),
            ],
        }
    })
}

/// Reward that fell far below what the run had reached.
pub fn reward(steps: &[StepRow]) -> Option<Warning> {
    let reward = series(steps, |row| row.mean_reward);
    if reward.len() < FEWEST_STEPS {
        return None;
    }
    let smooth: Vec<(i64, f64)> = reward.windows(WINDOW).map(|w| (w[WINDOW / 2].0, median(w))).collect();
    let best = smooth.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let (_, last) = ends(&reward);
    let lost = best.1 - last;
    if lost <= LOST_REWARD || lost <= LOST_PART * best.1.abs() {
        return None;
    }
    let after: Vec<(i64, f64)> = reward.iter().copied().filter(|(step, _)| *step > best.0).collect();
    let step = since(&after, |r| r < best.1 - LOST_PART * lost);
    Some(Warning {
        code: WarningCode::RewardCollapse,
        message: format!(
            "reward collapsed: {:.3} around step {}, {last:.3} at the end{}",
            best.1,
            best.0,
            from_step(step)
        ),
        hint: "go back to a checkpoint before that step; look at the spikes of energy and the spurious \
               tokens that come before it"
            .into(),
        evidence: vec![evidence(Some(best.0), "mean_reward", best.1), evidence(step, "mean_reward", last)],
    })
}

fn from_step(step: Option<i64>) -> String {
    step.map_or(String::new(), |step| format!(" (from step {step} on)"))
}

/// Batches in which no token has an advantage.
pub fn dead_batches(collected: &Collected, analysis: &RunCore) -> Option<Warning> {
    let dead: Vec<i64> = collected
        .batches
        .iter()
        .filter(|(_, tally)| tally.counts.tokens > 0 && tally.counts.positive + tally.counts.negative == 0)
        .map(|(key, _)| key.step)
        .collect();
    let first = *dead.first()?;
    let all = collected.batches.len();
    let at_end = analysis.steps.last().is_some_and(|row| row.positive + row.negative == 0 && row.tokens > 0);
    let reward = analysis.steps.iter().rfind(|row| dead.contains(&row.step)).and_then(|row| row.mean_reward);
    let why = match reward {
        Some(reward) if reward <= 0.0 => "; rewards are at the bottom: every answer is wrong",
        Some(_) => "; every answer of a group has the same reward",
        None => "",
    };
    Some(Warning {
        code: WarningCode::DeadBatches,
        message: format!(
            "{} of {all} batches have no advantage at all{}{why}",
            dead.len(),
            if at_end { ", the last one too" } else { "" }
        ),
        hint: "such batches give no gradient, while the optimizer still moves by its momentum: filter \
               groups of equal rewards, or choose harder or easier prompts"
            .into(),
        evidence: vec![
            evidence(Some(first), "first dead batch", first as f64),
            evidence(None, "share of batches", dead.len() as f64 / all as f64),
        ],
    })
}
