//! Warnings about what was lost, and about batches that teach nothing.

use super::series::evidence;
use crate::analyze::collect::Collected;
use crate::analyze::result::{Damage, RunCore, Warning, WarningCode};

/// Entropy or reward that was lost for good.
pub fn warnings(damage: &[Damage]) -> Vec<Warning> {
    damage.iter().filter_map(warning).collect()
}

fn warning(damage: &Damage) -> Option<Warning> {
    let fell = damage.after < damage.before;
    let (code, what, hint) = match damage.signal.as_str() {
        "entropy" if fell => (
            WarningCode::EntropyCollapse,
            "entropy collapsed",
            "the policy no longer explores: restart before that step with a higher upper clip, an entropy \
             bonus or a KL term, and look at the spurious tokens before it",
        ),
        "entropy" => (
            WarningCode::EntropyExplosion,
            "entropy exploded",
            "the policy drifts towards noise: lower the learning rate, check the advantages and the mismatch \
             between trainer and sampler, and look at the energy spikes",
        ),
        "reward" => (
            WarningCode::RewardCollapse,
            "the reward fell",
            "go back to a checkpoint before that step; look at the causes, and at the tokens that carry the \
             gradient energy before it",
        ),
        _ => return None,
    };
    Some(Warning {
        code,
        message: format!(
            "{what}: from {:.3} to {:.3}, beginning at step {}",
            damage.before, damage.after, damage.from_step
        ),
        hint: hint.into(),
        evidence: vec![
            evidence(None, &format!("{} before", damage.signal), damage.before),
            evidence(Some(damage.from_step), &format!("{} at the end", damage.signal), damage.after),
        ],
    })
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
    Some(Warning {
        code: WarningCode::DeadBatches,
        message: format!(
            "{} of {all} batches have no advantage at all{}{}",
            dead.len(),
            if at_end { ", the last one too" } else { "" },
            why(collected, &dead)
        ),
        hint: "such batches give no gradient, while the optimizer still moves by its momentum: filter \
               groups of equal rewards, or choose harder or easier prompts"
            .into(),
        evidence: vec![
            evidence(Some(first), "first dead batch", first as f64),
            evidence(None, "dead batches", dead.len() as f64),
            evidence(None, "share of batches", dead.len() as f64 / all as f64),
        ],
    })
}

/// What the rewards in dead batches say, where they are logged.
fn why(collected: &Collected, dead: &[i64]) -> &'static str {
    let facts = &collected.signs.facts;
    let is_dead = |step: i64| dead.binary_search(&step).is_ok();
    let (mut alike, mut unlike) = (0, 0);
    for group in facts.groups().filter(|group| is_dead(group[0].step) && group[0].reward.is_finite()) {
        let same = group.iter().all(|fact| fact.reward == group[0].reward);
        *(if same { &mut alike } else { &mut unlike }) += 1;
    }
    let all = || facts.responses.iter().map(|fact| fact.reward).filter(|reward| reward.is_finite());
    let lowest = all().fold(f32::INFINITY, f32::min);
    let highest = all().fold(f32::NEG_INFINITY, f32::max);
    let at = |reward: f32| facts.responses.iter().filter(|f| is_dead(f.step)).all(|f| f.reward == reward);
    match (alike, unlike) {
        (0, 0) => "",
        (alike, unlike) if unlike > alike => "; their rewards differ, yet every advantage is 0",
        _ if highest > lowest && at(lowest) => "; every answer in them has the run's lowest reward",
        _ if highest > lowest && at(highest) => "; every answer in them has the run's best reward",
        _ => "; every answer of a group has the same reward",
    }
}
