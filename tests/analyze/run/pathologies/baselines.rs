//! Baselines of other groups than the logged ones, and of the median.

use stapo_analyze::analyze::result::{CauseCode, Confidence};
use stapo_analyze::stats::random::Random;

use super::innocent::{changed, has, is_innocent};
use super::log::Log;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, told};

/// The answer alone is paid, and the reward over the mean of as many rows is the advantage.
fn relative_to(log: &mut Log, rows: &[Vec<usize>]) {
    log.rewards.clone_from(&log.parts[0].1);
    for rows in rows {
        let mean = rows.iter().map(|row| log.rewards[*row]).sum::<f32>() / rows.len() as f32;
        rows.iter().for_each(|row| log.advantages[*row] = log.rewards[*row] - mean);
    }
}

/// The rows of each step in sets of a group's size, as they stand or in another order.
fn sets(log: &Log, shuffled: bool) -> Vec<Vec<usize>> {
    let mut random = Random::new(6, 1);
    let mut sets = Vec::new();
    let mut first = 0;
    for step in log.steps.chunk_by(|a, b| a == b) {
        let mut rows: Vec<usize> = (first..first + step.len()).collect();
        first += step.len();
        if shuffled {
            random.shuffle(&mut rows);
        }
        sets.extend(rows.chunks(SHAPE.group).map(<[usize]>::to_vec));
    }
    sets
}

#[test]
fn advantages_of_other_groups_are_named() {
    let shape = Shape { kind: Kind::OneTurn, ..SHAPE };
    let own = changed(Fault::Nothing, shape, |log| relative_to(log, &sets(log, false)));
    is_innocent(&own);
    assert!(!has(&own, CauseCode::AdvantageContradictsReward), "{}", told(&own));
    let others = changed(Fault::Nothing, shape, |log| relative_to(log, &sets(log, true)));
    assert_eq!(alarms(&others), ["advantage_contradicts_reward"], "{}", told(&others));
    let message = &others.diagnosis.causes[0].message;
    assert!(message.contains("made of other groups than the logged ones"), "{message}");
    assert!(!has(&others, CauseCode::PhantomAdvantage), "{}", told(&others));
    // A baseline of the whole step.
    let batch = changed(Fault::Nothing, shape, |log| {
        let steps: Vec<Vec<usize>> =
            sets(log, false).chunks(SHAPE.groups).map(<[Vec<usize>]>::concat).collect();
        relative_to(log, &steps);
    });
    is_innocent(&batch);
    assert!(!has(&batch, CauseCode::AdvantageContradictsReward), "{}", told(&batch));
}

/// One group in twelve with the wrong sign: nothing else turns a line. In pairs, where any advantages are one, and where a
/// value that errs is taken off, few turned groups are no proof.
#[test]
fn a_few_groups_of_the_wrong_sign_are_likely_where_advantages_are_a_line() {
    let turned = |group: usize, error: f32| {
        let shape = Shape { kind: Kind::Flat, group, groups: 24, ..SHAPE };
        changed(Fault::Nothing, shape, |log| {
            let groups = groups_of(log);
            relative_to(log, &groups);
            let mut random = Random::new(4, 4);
            for (number, rows) in groups.iter().enumerate() {
                let sign = if number % 12 == 0 { -1.0 } else { 1.0 };
                for row in rows {
                    log.advantages[*row] = sign * (log.advantages[*row] + error * random.unit() as f32);
                }
            }
        })
    };
    assert_eq!(alarms(&turned(8, 0.0)), ["advantage_contradicts_reward"]);
    for (group, error) in [(2, 0.0), (8, 0.3)] {
        let found = turned(group, error);
        is_innocent(&found);
        assert!(has(&found, CauseCode::AdvantageContradictsReward), "{}", told(&found));
    }
}

/// The rows of each group.
fn groups_of(log: &Log) -> Vec<Vec<usize>> {
    let rows: Vec<usize> = (0..log.groups.len()).collect();
    rows.chunk_by(|a, b| log.groups[*a] == log.groups[*b]).map(<[usize]>::to_vec).collect()
}

/// Where a group's rewards are equal, advantages are drawn: from the middle on, or throughout. A critic that errs gives all
/// groups such advantages, and equal rewards have others there, too.
#[test]
fn advantages_of_nothing_are_named() {
    let shape = Shape { kind: Kind::LearnsFast, group: 4, groups: 32, steps: 16, ..SHAPE };
    let drawn = |from: i64, everywhere: bool| {
        changed(Fault::Nothing, shape, |log| {
            let mut random = Random::new(3, 7);
            let groups = groups_of(log);
            for rows in groups.iter().filter(|rows| log.steps[rows[0]] >= from) {
                let is_equal = rows.iter().all(|row| log.rewards[*row] == log.rewards[rows[0]]);
                for row in rows.iter().filter(|_| is_equal || everywhere) {
                    log.advantages[*row] += 2.0 * random.unit() as f32 - 1.0;
                }
            }
        })
    };
    for from in [0, 8] {
        let found = drawn(from, false);
        assert_eq!(alarms(&found), ["phantom_advantage"], "{}", told(&found));
        let cause = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::PhantomAdvantage);
        let cause = cause.unwrap();
        assert!(cause.message.contains("siblings are told apart"), "{}", cause.message);
        assert!(cause.from_step.is_some_and(|step| (from..from + 5).contains(&step)), "{cause:?}");
    }
    let critic = drawn(0, true);
    assert!(!has(&critic, CauseCode::PhantomAdvantage), "{}", told(&critic));
    // A penalty of the longest response that is not logged: it may be meant.
    let penalty = changed(Fault::Nothing, shape, |log| {
        for rows in groups_of(log) {
            let is_equal = rows.iter().all(|row| log.rewards[*row] == log.rewards[rows[0]]);
            let mean = rows.iter().map(|row| log.ids[*row].len()).sum::<usize>() as f32 / rows.len() as f32;
            for row in rows.into_iter().filter(|_| is_equal) {
                log.advantages[row] = 0.2 * (mean - log.ids[row].len() as f32);
            }
        }
    });
    is_innocent(&penalty);
}

/// A filter or a normaliser that sets every advantage to 0 from the middle on.
#[test]
fn advantages_that_end_are_named() {
    let ended = changed(Fault::Nothing, SHAPE, |log| {
        let rows = log.advantages.iter_mut().zip(&log.steps).filter(|(_, step)| **step >= 6);
        rows.for_each(|(advantage, _)| *advantage = 0.0);
    });
    assert_eq!(alarms(&ended), ["advantage_contradicts_reward"], "{}", told(&ended));
    let message = &ended.diagnosis.causes[0].message;
    assert!(message.contains("from step 6 on: nothing is learned"), "{message}");
}

/// Advantages that are never positive, in as few groups as a run has that ended in its first steps.
#[test]
fn few_groups_that_lack_a_sign_are_possible() {
    let shape = Shape { steps: 4, groups: 2, group: 32, ..SHAPE };
    for (fault, expected) in [(Fault::NegativeOnly, Some(Confidence::Possible)), (Fault::Nothing, None)] {
        let found = changed(fault, shape, |_| {});
        let cause = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::NoPositiveSignal);
        assert_eq!(cause.map(|cause| cause.confidence), expected, "{}", told(&found));
    }
}

/// Where most answers are alike these are the median: right ones are pushed up where they are few, wrong ones down
/// where these are few.
#[test]
fn a_median_baseline_lacks_no_sign() {
    let shape = Shape { kind: Kind::LearnsFast, steps: 24, ..SHAPE };
    let median = changed(Fault::Nothing, shape, |log| {
        let all = sets(log, false);
        relative_to(log, &all);
        for rows in &all {
            let mut rewards: Vec<f32> = rows.iter().map(|row| log.rewards[*row]).collect();
            rewards.sort_by(f32::total_cmp);
            let median = f32::midpoint(rewards[rows.len() / 2 - 1], rewards[rows.len() / 2]);
            rows.iter().for_each(|row| log.advantages[*row] = log.rewards[*row] - median);
        }
    });
    is_innocent(&median);
    assert!(has(&median, CauseCode::NoNegativeSignal), "{}", told(&median));
}

/// A KL term in the reward: advantages are of the reward less a penalty for the distance from the reference. Where it is
/// so large that it turns groups, that is said with its weight; advantages that are turned without it stay a contradiction.
#[test]
fn a_penalty_in_the_reward_is_no_contradiction() {
    let shape = Shape { kind: Kind::OneTurn, groups: 24, ..SHAPE };
    let penalised = |weight: f32, logged: bool| {
        changed(Fault::Nothing, shape, |log| {
            let mut random = Random::new(8, 2);
            let mut distances = Vec::new();
            log.references.clear();
            for own in &log.values[0] {
                let away = random.unit() as f32;
                log.references.push(own.iter().map(|own| own - away).collect());
                distances.push(away * own.len() as f32);
            }
            let groups = groups_of(log);
            log.rewards.clone_from(&log.parts[0].1);
            for rows in &groups {
                let of = |row: &usize| log.rewards[*row] - weight * distances[*row];
                let mean = rows.iter().map(of).sum::<f32>() / rows.len() as f32;
                let made: Vec<f32> = rows.iter().map(|row| of(row) - mean).collect();
                rows.iter().zip(made).for_each(|(row, advantage)| log.advantages[*row] = advantage);
            }
            if !logged {
                log.references.clear();
            }
        })
    };
    let small = penalised(0.002, true);
    assert!(!has(&small, CauseCode::AdvantageContradictsReward), "{}", told(&small));
    let large = penalised(0.4, true);
    let cause =
        large.diagnosis.causes.iter().find(|c| c.code == CauseCode::AdvantageContradictsReward).unwrap();
    assert_eq!(cause.confidence, Confidence::Possible, "{}", told(&large));
    assert!(cause.message.contains("the reward less 0.4000 for each nat"), "{}", cause.message);
    let unknown = penalised(0.4, false);
    assert!(alarms(&unknown).contains(&"advantage_contradicts_reward"), "{}", told(&unknown));
}
