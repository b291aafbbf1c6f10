//! Warnings about what was lost, and about batches that teach nothing.

use crate::evidence::{at_the_end, evidence};
use crate::idle::IdleSteps;
use crate::responses::right::Right;
use crate::words::measured;
use stapo_base::format::grouped;
use stapo_collect::collect::Collected;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_collect::collect::tally::{BatchKey, BatchTally};
use stapo_result::{Damage, RunCore, SignalName, Warning, WarningCode};

const HINT: &str = "such batches give no gradient, while the optimizer still moves by its momentum: filter \
                    groups of equal rewards, or choose harder or easier prompts";
/// Where what is right says otherwise than the reward.
const UNPAID: &str = "read some of these answers with their rewards: the grader may have failed at these steps, and other \
                      prompts would not help";

/// Entropy or reward that was lost for good.
pub fn warnings(damage: &[Damage]) -> Vec<Warning> {
    damage.iter().filter_map(warning).collect()
}

fn warning(damage: &Damage) -> Option<Warning> {
    let fell = damage.after < damage.before;
    let (code, what, hint) = match damage.signal {
        SignalName::Entropy if fell => (
            WarningCode::EntropyCollapse,
            "entropy collapsed",
            "the policy no longer explores: restart before that step with a higher upper clip, an entropy \
             bonus or a KL term, and look at the spurious tokens before it",
        ),
        SignalName::Entropy => (
            WarningCode::EntropyExplosion,
            "entropy exploded",
            "the policy drifts towards noise: lower the learning rate, check the advantages and the mismatch \
             between trainer and sampler, and look at the energy spikes",
        ),
        SignalName::Reward => (
            WarningCode::RewardCollapse,
            "the reward fell",
            "see whether the prompts became harder at that step; if not, go back to a checkpoint before it, and look \
             at the causes and at the tokens that carry the gradient energy before it",
        ),
        _ => return None,
    };
    Some(Warning {
        code,
        message: format!(
            "{what}: from {} to {}, beginning at step {}",
            measured(damage.before, 3),
            measured(damage.after, 3),
            damage.from_step
        ),
        hint: hint.into(),
        evidence: vec![
            evidence(None, &format!("{} before", damage.signal), damage.before),
            at_the_end(damage.signal.as_str(), damage.after),
        ],
    })
}

/// A run in which no token is trained.
pub fn nothing_trained(analysis: &RunCore) -> Option<Warning> {
    let totals = &analysis.totals;
    (totals.tokens == 0).then(|| Warning {
        code: WarningCode::NothingTrained,
        message: format!("no token is trained: the mask leaves out all {}", grouped(totals.masked_out)),
        hint:
            "look at the mask: 1 (or true) is a token of the policy that is trained on; name another column \
               with --map mask=…"
                .into(),
        evidence: vec![evidence(None, "masked out", totals.masked_out as f64)],
    })
}

/// Batches in which no token has an advantage; `right` is what says which answers are right.
pub fn dead_batches(collected: &Collected, idle: &IdleSteps, right: Option<&Right<'_>>) -> Option<Warning> {
    let is_dead = |(key, tally): &&(BatchKey, BatchTally)| {
        let counts = &tally.counts;
        counts.tokens > 0 && (counts.positive + counts.negative == 0 || idle.contains(key.step))
    };
    let batches = collected.batches.iter();
    let dead: Vec<i64> = batches.filter(is_dead).map(|(key, _)| key.step).collect();
    let first = *dead.first()?;
    let all = collected.batches.len();
    let at_end = collected.batches.last().is_some_and(|last| is_dead(&last));
    let (why, against) = why(&collected.signs.facts, &dead, right);
    Some(Warning {
        code: WarningCode::DeadBatches,
        message: format!(
            "{} of {} batches have no advantage at all{}{why}{}",
            grouped(dead.len() as u64),
            grouped(all as u64),
            if at_end { ", the last one too" } else { "" },
            against.as_deref().unwrap_or("")
        ),
        hint: match against {
            Some(_) => UNPAID,
            None => HINT,
        }
        .into(),
        evidence: vec![
            evidence(Some(first), "first dead batch", first as f64),
            evidence(None, "dead batches", dead.len() as f64),
            evidence(None, "share of batches", dead.len() as f64 / all as f64),
        ],
    })
}

/// What the rewards in dead batches say, where they are logged: those of the groups without an advantage
/// at these steps, whose other mini-batches may be alive. Then what is right says against it.
fn why(facts: &ResponseFacts, dead: &[i64], right: Option<&Right<'_>>) -> (&'static str, Option<String>) {
    let is_dead = |group: &&[ResponseFact]| {
        dead.binary_search(&group[0].step).is_ok() && group.iter().all(|fact| fact.signs == [false; 2])
    };
    let is_known = |group: &&[ResponseFact]| group.iter().all(|fact| fact.reward.is_finite());
    // Without groups, the responses of a step are held against each other.
    let grouped = facts.have_siblings();
    let groups: Vec<&[ResponseFact]> = match grouped {
        true => facts.groups().filter(|group| group.len() > 1 && is_dead(group) && is_known(group)).collect(),
        false => {
            let steps = facts.responses.chunk_by(|a, b| a.step == b.step);
            steps.filter(|step| step.len() > 1 && is_dead(step) && is_known(step)).collect()
        }
    };
    let unlike = |group: &&&[ResponseFact]| group.iter().any(|fact| fact.reward != group[0].reward);
    let unlike = groups.iter().filter(unlike).count();
    let all = || facts.responses.iter().map(|fact| fact.reward).filter(|reward| reward.is_finite());
    let lowest = all().fold(f32::INFINITY, f32::min);
    let highest = all().fold(f32::NEG_INFINITY, f32::max);
    let at = |reward: f32| groups.iter().copied().flatten().all(|fact| fact.reward == reward);
    let against = |best: bool| right.and_then(|right| right.against(groups.iter().copied().flatten(), best));
    let told = match unlike {
        _ if groups.is_empty() => "",
        unlike if 2 * unlike > groups.len() => "; their rewards differ, yet every advantage is 0",
        0 if highest > lowest && at(lowest) => {
            return ("; every answer in them has the run's lowest reward", against(false));
        }
        0 if highest > lowest && at(highest) => {
            return ("; every answer in them has the run's best reward", against(true));
        }
        0 if grouped => "; every answer of a group has the same reward",
        0 => "; every answer of a step has the same reward",
        _ if !grouped => "; in most of them every answer has the same reward",
        _ => "; in most of their groups every answer has the same reward",
    };
    (told, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups a step, one dead and one alive; the rewards of the live ones differ.
    fn facts(dead: [f32; 2]) -> ResponseFacts {
        let fact = |step: i64, group: u64, reward: f32| ResponseFact {
            step,
            group,
            reward,
            signs: [group == 1; 2],
            ..ResponseFact::default()
        };
        let step = |step: i64| {
            [fact(step, 0, dead[0]), fact(step, 0, dead[1]), fact(step, 1, 0.0), fact(step, 1, 1.0)]
        };
        ResponseFacts { responses: (0..3).flat_map(step).collect(), ..ResponseFacts::default() }
    }

    #[test]
    fn live_groups_of_a_step_say_nothing_of_its_dead_batches() {
        assert_eq!(
            why(&facts([1.0, 1.0]), &[0, 1, 2], None).0,
            "; every answer in them has the run's best reward"
        );
        assert_eq!(why(&facts([0.5, 0.5]), &[0, 2], None).0, "; every answer of a group has the same reward");
        assert_eq!(why(&facts([0.0, 1.0]), &[1], None).0, "; their rewards differ, yet every advantage is 0");
    }

    #[test]
    fn without_groups_the_responses_of_a_step_are_held_against_each_other() {
        let of = |rewards: [f32; 2]| {
            let fact = |(group, reward): (usize, &f32)| ResponseFact {
                group: group as u64,
                reward: *reward,
                ..ResponseFact::default()
            };
            let responses = rewards.iter().enumerate().map(fact).collect();
            why(&ResponseFacts { responses, ..ResponseFacts::default() }, &[0], None).0
        };
        assert_eq!(of([0.0, 1.0]), "; their rewards differ, yet every advantage is 0");
        assert_eq!(of([0.5, 0.5]), "; every answer of a step has the same reward");
    }
}
