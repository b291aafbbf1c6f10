//! What is paid for: penalties that are logged as they are taken off, right answers that are rare, cuts that
//! are unlearned or earn something, and advantages that belong to other responses.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence};
use stapo_analyze::stats::random::Random;

use super::log::Log;
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, analysis_of, told};

/// A healthy run whose rewards are made anew: of the way through the run, the row and chance.
pub fn regraded(shape: Shape, reward: impl Fn(&mut Log, &mut Random)) -> RunAnalysis {
    let mut log = Maker::run(Fault::Nothing, shape, 5);
    reward(&mut log, &mut Random::new(8, 9));
    let last = log.groups.len();
    let mut first = 0;
    while first < last {
        let end = first + log.groups[first..].iter().take_while(|g| **g == log.groups[first]).count();
        let rewards = &log.rewards[first..end];
        let n = rewards.len() as f32;
        let mean = rewards.iter().sum::<f32>() / n;
        let deviation = (rewards.iter().map(|r| (r - mean).powi(2)).sum::<f32>() / n).sqrt();
        let advantages: Vec<f32> =
            rewards.iter().map(|r| if deviation > 1e-6 { (r - mean) / deviation } else { 0.0 }).collect();
        log.advantages[first..end].copy_from_slice(&advantages);
        first = end;
    }
    analysis_of(&log, shape)
}

pub fn part<'a>(log: &'a Log, name: &str) -> &'a [f32] {
    &log.parts.iter().find(|(known, _)| *known == name).unwrap().1
}

pub fn way(log: &Log, row: usize) -> f64 {
    log.steps[row] as f64 / *log.steps.last().unwrap() as f64
}

/// Answers get better, and the penalty becomes less, as in every run that learns; then the penalty grows.
#[test]
fn a_penalty_that_falls_is_no_damage_and_one_that_rises_is() {
    for grows in [false, true] {
        let found = regraded(SHAPE, |log, random| {
            let rows = 0..log.rewards.len();
            let less = |row: usize| if grows { way(log, row) } else { 1.0 - way(log, row) };
            let penalties: Vec<f32> = rows.map(|row| (less(row) * random.unit()) as f32).collect();
            let parts = part(log, "reward/answer").iter().zip(&penalties);
            log.rewards = parts.map(|(answer, penalty)| answer - penalty).collect();
            log.parts.retain(|(name, _)| *name != "reward/format");
            log.parts.push(("reward/length_penalty", penalties));
        });
        let damaged = found.diagnosis.damage.iter().any(|d| d.signal == "reward/length_penalty");
        assert_eq!(damaged, grows, "{}", told(&found));
        if !grows {
            assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
        }
    }
}

/// One of twenty answers is right, half have the format, and both are paid alike. Then a format that is
/// paid ten times as much.
#[test]
fn rare_right_answers_that_are_paid_as_well_are_not_hacked() {
    let shape = Shape { kind: Kind::Hard, groups: 8, group: 32, ..SHAPE };
    for (weight, expected) in [(1.0, false), (10.0, true)] {
        let found = regraded(shape, |log, random| {
            let format: Vec<f32> =
                log.rewards.iter().map(|_| f32::from(u8::from(random.unit() < 0.5))).collect();
            let parts = part(log, "reward/answer").iter().zip(&format);
            log.rewards = parts.map(|(answer, format)| answer + weight * format).collect();
            log.parts
                .iter_mut()
                .filter(|(name, _)| *name == "reward/format")
                .for_each(|(_, of)| of.clone_from(&format));
        });
        assert_eq!(alarms(&found).contains(&"reward_hacking"), expected, "{weight}: {}", told(&found));
    }
}

/// All responses are cut at first; in the last quarter of the steps none is, or all are.
#[test]
fn cuts_that_are_unlearned_are_only_possible() {
    for lasts in [false, true] {
        let found = regraded(SHAPE, |log, _| {
            log.truncated = (0..log.steps.len()).map(|row| lasts || way(log, row) < 0.8).collect();
        });
        let confidence = |code| found.diagnosis.causes.iter().find(|c| c.code == code).map(|c| c.confidence);
        let expected = if lasts { Confidence::Likely } else { Confidence::Possible };
        assert_eq!(confidence(CauseCode::Truncation), Some(expected), "{}", told(&found));
    }
}

/// Without parts, and with so much chance in the reward that length explains less than half of it: cut responses
/// earn more, or the reward rises whatever is cut.
#[test]
fn cuts_that_grow_while_the_reward_rises_are_hacking() {
    let shape = Shape { kind: Kind::NoParts, steps: 24, ..SHAPE };
    for (pays, expected) in [(true, Confidence::Likely), (false, Confidence::Possible)] {
        let found = regraded(shape, |log, random| {
            let rows = 0..log.rewards.len();
            log.truncated = rows.clone().map(|row| random.unit() < 0.9 * way(log, row)).collect();
            let paid =
                |row: usize| if pays { f64::from(u8::from(log.truncated[row])) } else { way(log, row) };
            log.rewards = rows.map(|row| (paid(row) + 0.7 * random.normal()) as f32).collect();
        });
        let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::RewardHacking);
        assert_eq!(cause.map(|c| c.confidence), Some(expected), "{}", told(&found));
        assert!(found.verdict.health.contains("cause, reward hacking:"), "{}", found.verdict.health);
    }
}

/// Of 30 of 100 responses the advantages were given to others: most groups still agree on the whole.
#[test]
fn advantages_of_other_responses_are_named() {
    let shape = Shape { kind: Kind::NoParts, ..SHAPE };
    let mut log = Maker::run(Fault::Nothing, shape, 5);
    let mut random = Random::new(8, 9);
    let moved: Vec<usize> = (0..log.advantages.len()).filter(|_| random.unit() < 0.3).collect();
    let advantages: Vec<f32> = moved.iter().map(|row| log.advantages[*row]).collect();
    moved
        .iter()
        .zip(advantages.iter().cycle().skip(7))
        .for_each(|(row, other)| log.advantages[*row] = *other);
    let found = analysis_of(&log, shape);
    assert!(alarms(&found).contains(&"advantage_contradicts_reward"), "{}", told(&found));
    let cause =
        found.diagnosis.causes.iter().find(|c| c.code == CauseCode::AdvantageContradictsReward).unwrap();
    assert!(
        cause.message.contains("is pushed up while one with a clearly higher reward"),
        "{}",
        cause.message
    );
}

/// Partial credit for what was solved, ten tokens each: the length follows it. Then the same advantages without
/// the part that explains them.
#[test]
fn a_length_that_follows_another_part_is_not_paid_for() {
    for logged in [true, false] {
        let found = regraded(SHAPE, |log, _| {
            log.parts
                .iter_mut()
                .filter(|(name, _)| *name == "reward/answer")
                .for_each(|(_, of)| of.fill(0.0));
            log.rewards = log.ids.iter().map(|ids| ids.len() as f32 / 40.0).collect();
            let progress = log.rewards.clone();
            log.parts.retain(|(name, _)| *name != "reward/format");
            log.parts.extend(logged.then_some(("reward/progress", progress)));
        });
        assert_eq!(alarms(&found).contains(&"reward_hacking"), !logged, "{}", told(&found));
    }
}

/// Rewards of three of ten groups are turned round: the advantage follows them.
#[test]
fn rewards_that_are_turned_round_in_some_groups_are_named() {
    for share in [0.0, 0.3] {
        let found = regraded(SHAPE, |log, random| {
            let turned: Vec<bool> = (0..SHAPE.steps * SHAPE.groups).map(|_| random.unit() < share).collect();
            let answers = part(log, "reward/answer").iter().zip(&log.groups);
            log.rewards = answers
                .map(|(answer, group)| if turned[*group as usize] { 1.0 - answer } else { *answer })
                .collect();
        });
        let named = alarms(&found).contains(&"advantage_contradicts_reward");
        assert_eq!(named, share > 0.0, "{}", told(&found));
    }
}

/// Without the sampler's log-probabilities, a third of the trained tokens are drawn by nobody.
#[test]
fn tokens_that_surprise_more_than_they_should_are_a_possible_sign() {
    let shape = Shape { kind: Kind::Bare, ..SHAPE };
    for foreign in [false, true] {
        let mut log = Maker::run(Fault::Nothing, shape, 5);
        if foreign {
            log.values[0].iter_mut().for_each(|row| row.iter_mut().step_by(3).for_each(|lp| *lp -= 3.0));
        }
        let found = analysis_of(&log, shape);
        let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::SamplerTemperature);
        assert_eq!(cause.is_some(), foreign, "{}", told(&found));
        assert!(cause.is_none_or(|c| c.message.contains("surprise the trainer more")), "{}", told(&found));
    }
}

/// A part beside the reward that goes along with right answers: with these as they are, the reward falls with it.
#[test]
fn a_part_that_only_falls_beside_others_is_no_cost() {
    let found = regraded(SHAPE, |log, random| {
        let rises: Vec<f64> = (0..log.rewards.len()).map(|row| 0.3 + 0.4 * way(log, row)).collect();
        let answers = part(log, "reward/answer").to_vec();
        let mut follows =
            |(answer, rises): (&f32, &f64)| 0.5 * f64::from(*answer) + rises + 0.2 * random.normal();
        let tidy: Vec<f32> = answers.iter().zip(&rises).map(|pair| follows(pair) as f32).collect();
        log.rewards = answers.iter().zip(&tidy).map(|(answer, tidy)| 2.0 * answer - 0.5 * tidy).collect();
        log.parts.retain(|(name, _)| *name != "reward/format");
        log.parts.push(("reward/tidy", tidy));
    });
    assert!(found.diagnosis.damage.is_empty(), "{}", told(&found));
    assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
}

/// Answers get better while the reward is scaled down, moved down, or gives up a part's weight.
#[test]
fn a_reward_that_is_graded_anew_is_no_damage() {
    let shape = Shape { kind: Kind::LearnsFast, steps: 24, ..SHAPE };
    let regraded_by = |of: fn(f32, f32, f32) -> f32| {
        regraded(shape, |log, _| {
            let parts = part(log, "reward/answer").iter().zip(part(log, "reward/format")).enumerate();
            log.rewards = parts.map(|(row, (a, f))| of(*a, *f, way(log, row) as f32)).collect();
        })
    };
    let weight: fn(f32, f32, f32) -> f32 = |answer, format, way| 0.3 * answer + 2.0 * (1.0 - way) * format;
    let offset: fn(f32, f32, f32) -> f32 = |answer, _, way| answer - 3.0 * way;
    for of in [weight, offset] {
        let found = regraded_by(of);
        assert!(found.diagnosis.damage.is_empty(), "{}", told(&found));
        assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
        let health = &found.verdict.health;
        assert!(health.contains("its scale, its weights or a term that is not logged changed"), "{health}");
    }
}

/// A total that falls although what is right stands: not what harder prompts look like.
#[test]
fn a_fall_of_the_total_alone_is_not_told_as_harder_prompts() {
    let shape = Shape { kind: Kind::Flat, groups: 32, ..SHAPE };
    let found = regraded(shape, |log, _| {
        let answers = part(log, "reward/answer").iter().enumerate();
        log.rewards = answers.map(|(row, answer)| answer - 2.0 * way(log, row) as f32).collect();
    });
    assert!(found.diagnosis.damage.iter().any(|d| d.signal == "reward"), "{}", told(&found));
    let health = &found.verdict.health;
    assert!(!health.contains("Harder prompts") && health.contains("reward/answer did not fall"), "{health}");
    let listed = !found.diagnosis.not_checked.is_empty();
    assert_eq!(health.contains("see what could not be checked"), listed, "{health}");
}

/// Every policy that has not learned to end is cut at first.
#[test]
fn cuts_of_the_first_steps_are_no_likely_cause() {
    let cut = |steps: usize, until: i64| {
        let shape = Shape { steps, group: 4, groups: 12, ..SHAPE };
        let mut log = Maker::run(Fault::Nothing, shape, 5);
        let rows = log.truncated.iter_mut().zip(&log.steps).enumerate();
        rows.for_each(|(row, (cut, step))| *cut = *step < until && row % 5 < 3);
        let finished = log.advantages.iter_mut().zip(&log.truncated).filter(|(_, cut)| !**cut);
        finished.for_each(|(advantage, _)| *advantage *= 0.1);
        let found = analysis_of(&log, shape);
        let cause = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::Truncation);
        cause.map(|cause| (cause.confidence, cause.message.clone()))
    };
    for (steps, until) in [(1, 1), (2, 1), (3, 3), (4, 1), (5, 1)] {
        let found = cut(steps, until);
        assert!(found.as_ref().is_none_or(|c| c.0 == Confidence::Possible), "{steps}: {found:?}");
    }
}

/// A count that is logged beside the reward and has no weight in it: fewer calls are no damage. The same count
/// with a weight is.
#[test]
fn a_part_that_is_not_paid_is_no_damage() {
    for weight in [0.0, 0.1] {
        let found = regraded(Shape { kind: Kind::LearnsFast, ..SHAPE }, |log, random| {
            let more = |row: usize| 3.0 * (1.0 - way(log, row));
            let calls: Vec<f32> =
                (0..log.rewards.len()).map(|row| (more(row) + random.unit()).floor() as f32).collect();
            let parts = part(log, "reward/answer").iter().zip(&calls);
            log.rewards = parts.map(|(answer, calls)| answer + weight * calls).collect();
            log.parts.retain(|(name, _)| *name != "reward/format");
            log.parts.push(("reward/calls", calls));
        });
        let damaged = found.diagnosis.damage.iter().any(|d| d.signal == "reward/calls");
        assert_eq!(damaged, weight > 0.0, "{}", told(&found));
        if weight == 0.0 {
            assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
        }
    }
}

/// From a step on the reward pays for length, too, and no part says so; less than for a right answer, which is no hacking that
/// shows otherwise. A penalty for length is no pay, and a reward that paid for it from the first step on was meant to.
#[test]
fn a_term_for_length_that_came_in_unlogged_is_named() {
    let graded = |from: i64, weight: f32| {
        let shape = Shape { steps: 24, ..SHAPE };
        regraded(shape, |log, _| {
            for row in 0..log.rewards.len() {
                let length = log.ids[row].len() as f32 / shape.length as f32;
                log.rewards[row] += if log.steps[row] >= from { weight * length } else { 0.0 };
            }
        })
    };
    let named = |found: &RunAnalysis| {
        let causes = found.diagnosis.causes.iter().filter(|cause| cause.code == CauseCode::RewardHacking);
        causes.map(|cause| (cause.from_step, cause.confidence)).collect::<Vec<_>>()
    };
    let found = graded(12, 0.8);
    let message = &found.diagnosis.causes[0].message;
    assert_eq!(named(&found), [(Some(12), Confidence::Possible)], "{message}: {}", told(&found));
    assert!(message.contains("by a term that is not logged"), "{message}: {}", told(&found));
    for (from, weight) in [(12, -0.8), (0, 0.8), (12, 0.0)] {
        let found = graded(from, weight);
        let is_term = |cause: &Cause| cause.message.contains("by a term that is not logged");
        assert!(!found.diagnosis.causes.iter().any(is_term), "{from} {weight}: {}", told(&found));
    }
}
