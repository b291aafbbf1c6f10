//! Graders that fail for a share of the responses, and what is like them and no failure.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence};
use stapo_analyze::stats::random::Random;

use super::log::Log;
use super::paid::regraded;
use super::run::{Kind, Shape};
use super::{SHAPE, alarms, told};

const LONG: Shape = Shape { steps: 24, kind: Kind::Flat, ..SHAPE };

fn failure(found: &RunAnalysis) -> Option<&Cause> {
    let causes = found.diagnosis.causes.iter();
    causes
        .filter(|cause| cause.code == CauseCode::UninformativeReward)
        .find(|cause| cause.message.contains("The grader fails for"))
}

/// Sets reward and parts of some rows to 0.
fn lose(log: &mut Log, is_lost: impl Fn(&Log, usize) -> bool) {
    let lost: Vec<usize> = (0..log.rewards.len()).filter(|row| is_lost(log, *row)).collect();
    for row in lost {
        log.rewards[row] = 0.0;
        log.parts.iter_mut().for_each(|(_, values)| values[row] = 0.0);
    }
}

fn drawn(log: &Log, random: &mut Random, share: f64) -> Vec<bool> {
    log.rewards.iter().map(|_| random.unit() < share).collect()
}

/// Two responses of five time out, from a step on, or in some steps; reward and parts are 0 then.
#[test]
fn a_grader_that_fails_for_some_is_named_with_the_share_and_both_ends() {
    for (steps, before_step) in [(10..24, None), (8..15, Some(15))] {
        let found = regraded(LONG, |log, random| {
            let lost = drawn(log, random, 0.4);
            lose(log, |log, row| lost[row] && steps.contains(&log.steps[row]));
        });
        let cause = failure(&found).unwrap_or_else(|| panic!("{steps:?}: {}", told(&found)));
        assert_eq!(cause.confidence, Confidence::Likely, "{cause:?}");
        assert_eq!((cause.from_step, cause.before_step), (Some(steps.start), before_step), "{cause:?}");
        let share = cause.evidence.iter().find(|e| e.what.contains("grader fails")).unwrap().value;
        assert!((share - 0.4).abs() < 0.1, "{cause:?}");
    }
}

/// The policy learns what is right all along: the format that failures take was not given up for it.
#[test]
fn what_a_failing_grader_takes_is_not_hacked() {
    let shape = Shape { kind: Kind::LearnsFast, groups: 24, ..LONG };
    let found = regraded(shape, |log, random| {
        let lost = drawn(log, random, 0.4);
        lose(log, |log, row| lost[row] && log.steps[row] >= 8);
    });
    assert_eq!(failure(&found).map(|cause| cause.confidence), Some(Confidence::Likely), "{}", told(&found));
    assert!(found.diagnosis.damage.iter().any(|d| d.signal == "reward/format"), "{}", told(&found));
    let causes = &found.diagnosis.causes;
    assert!(causes.iter().all(|cause| cause.code != CauseCode::RewardHacking), "{}", told(&found));
}

/// Answers become better at the very step at which two of five responses begin to time out: as many are right as before, and
/// the format alone falls.
#[test]
fn failures_that_learning_hides_are_possible_and_no_hacking() {
    let found = regraded(Shape { groups: 24, ..LONG }, |log, random| {
        let (lost, unlearned) = (drawn(log, random, 0.4), drawn(log, random, 0.5));
        for row in (0..log.rewards.len()).filter(|row| log.steps[*row] < 12 && unlearned[*row]) {
            let answer = log.parts.iter_mut().find(|(name, _)| *name == "reward/answer").unwrap();
            log.rewards[row] -= std::mem::take(&mut answer.1[row]);
        }
        lose(log, |log, row| lost[row] && log.steps[row] >= 12);
    });
    let cause = failure(&found).unwrap_or_else(|| panic!("{}", told(&found)));
    assert_eq!((cause.from_step, cause.confidence), (Some(12), Confidence::Possible), "{}", told(&found));
    assert!(found.diagnosis.damage.iter().any(|d| d.signal == "reward/format"), "{}", told(&found));
    let causes = &found.diagnosis.causes;
    assert!(causes.iter().all(|cause| cause.code != CauseCode::RewardHacking), "{}", told(&found));
}

/// Two responses of five get a coin's reward, whatever their parts say; a bonus that is not logged and that length earns is
/// no such thing.
#[test]
fn a_reward_that_is_not_that_of_the_parts_is_named() {
    let found = |is_other: &dyn Fn(&Log, usize, &mut Random) -> bool| {
        regraded(LONG, |log, random| {
            for row in 0..log.rewards.len() {
                let coin = f32::from(u8::from(random.unit() < 0.5));
                if is_other(log, row, random) {
                    log.rewards[row] = 1.5 * coin - 0.2;
                }
            }
        })
    };
    let named = |found: &RunAnalysis| {
        let mut causes = found.diagnosis.causes.iter();
        causes.find(|cause| cause.message.contains("with the same parts")).cloned()
    };
    let by_chance = found(&|_, _, random| random.unit() < 0.4);
    let cause = named(&by_chance).unwrap_or_else(|| panic!("{}", told(&by_chance)));
    let share = cause.evidence[0].value;
    assert!((share - 0.4).abs() < 0.05, "{cause:?}");
    assert_eq!((cause.code, cause.confidence), (CauseCode::UninformativeReward, Confidence::Possible));
    let by_length = found(&|log, row, _| log.ids[row].len() > LONG.length);
    assert!(named(&by_length).is_none(), "{}", told(&by_length));
    // So few lengths that most responses of some parts have one reward.
    let short = Shape { length: 6, ..LONG };
    let paid = regraded(short, |log, _| {
        let lengths: Vec<f32> = log.ids.iter().map(|ids| ids.len() as f32).collect();
        log.rewards.iter_mut().zip(lengths).for_each(|(reward, length)| *reward += length);
    });
    assert!(named(&paid).is_none(), "{}", told(&paid));
    let of_parts = found(&|_, _, _| false);
    assert!(named(&of_parts).is_none(), "{}", told(&of_parts));
}

/// One part fails for all responses of some steps; the other goes on, so that rewards still differ.
#[test]
fn a_part_that_is_out_is_named() {
    let found = regraded(LONG, |log, _| {
        for row in 0..log.rewards.len() {
            if (8..15).contains(&log.steps[row]) {
                let (_, answers) = log.parts.iter_mut().find(|(name, _)| *name == "reward/answer").unwrap();
                log.rewards[row] -= answers[row];
                answers[row] = 0.0;
            }
        }
    });
    let cause = failure(&found).unwrap_or_else(|| panic!("{}", told(&found)));
    assert!(cause.message.contains("reward/answer is 0"), "{}", cause.message);
    assert_eq!((cause.from_step, cause.before_step), (Some(8), Some(15)), "{cause:?}");
    assert_eq!(cause.confidence, Confidence::Likely);
}

/// Prompts of which two in five are hopeless from a step on; a rule that takes everything from long responses; a policy
/// that loses the task at a step, its entropy with it; and a reward that counts half.
#[test]
fn what_else_takes_rewards_away_is_no_failure() {
    let harder = regraded(LONG, |log, _| {
        lose(log, |log, row| log.steps[row] >= 10 && log.groups[row] % 5 < 2);
    });
    let stricter = regraded(LONG, |log, _| {
        lose(log, |log, row| log.steps[row] >= 10 && log.ids[row].len() > LONG.length);
    });
    let broken = regraded(LONG, |log, random| {
        let lost = drawn(log, random, 0.6);
        lose(log, |log, row| lost[row] && log.steps[row] >= 10);
        for row in 0..log.rewards.len() {
            let less = if log.steps[row] >= 10 { 0.5 } else { 1.0 };
            log.values
                .iter_mut()
                .take(4)
                .for_each(|rows| rows[row].iter_mut().for_each(|value| *value *= less));
        }
    });
    let halved = regraded(Shape { kind: Kind::NoParts, ..LONG }, |log, _| {
        let late = log.rewards.iter_mut().zip(&log.steps).filter(|(_, step)| **step >= 10);
        late.for_each(|(reward, _)| *reward *= 0.5);
    });
    let all = [("harder", harder), ("stricter", stricter), ("broken", broken), ("halved", halved)];
    for (name, found) in all {
        assert!(failure(&found).is_none(), "{name}: {}", told(&found));
    }
    let healthy = regraded(LONG, |_, _| {});
    assert_eq!(alarms(&healthy), Vec::<&str>::new(), "{}", told(&healthy));
    assert!(failure(&healthy).is_none(), "{}", told(&healthy));
}
