//! Logs in which nothing is wrong, or something else than it seems: what is missing in them, or written
//! in another way, must not be blamed.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{CauseCode, Confidence};

use super::log::{Log, NO_GROUP};
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, among_first_two, analysis_of, told};

/// A run with a fault, its log changed.
fn changed(fault: Fault, shape: Shape, change: impl Fn(&mut Log)) -> RunAnalysis {
    let mut log = Maker::run(fault, shape, 5);
    change(&mut log);
    analysis_of(&log, shape)
}

fn has(analysis: &RunAnalysis, code: CauseCode) -> bool {
    analysis.diagnosis.causes.iter().any(|cause| cause.code == code)
}

/// Nothing is marked likely.
fn is_innocent(analysis: &RunAnalysis) {
    assert_eq!(alarms(analysis), Vec::<&str>::new(), "{}", told(analysis));
}

fn answers(log: &mut Log, of: impl Fn(usize, f32) -> f32) {
    let groups = log.groups.clone();
    let (_, values) = log.parts.iter_mut().find(|(name, _)| *name == "reward/answer").unwrap();
    values.iter_mut().zip(groups).for_each(|(value, group)| *value = of(group as usize, *value));
}

#[test]
fn a_part_with_its_weight_says_what_is_right() {
    let weighted = changed(Fault::Nothing, SHAPE, |log| answers(log, |_, value| 0.3 * value));
    is_innocent(&weighted);
    assert!(!has(&weighted, CauseCode::PhantomAdvantage), "{}", told(&weighted));
}

#[test]
fn groups_without_a_known_outcome_are_not_wrong() {
    let partly = |group: usize, value: f32| if group.is_multiple_of(4) { value } else { f32::NAN };
    let partly = changed(Fault::Nothing, SHAPE, |log| answers(log, partly));
    is_innocent(&partly);
    assert!(!has(&partly, CauseCode::PhantomAdvantage), "{}", told(&partly));
}

#[test]
fn steps_without_the_samplers_probabilities_are_not_observations() {
    let late = changed(Fault::Nothing, SHAPE, |log| {
        let rows = log.values[1].iter_mut().zip(&log.steps);
        rows.filter(|(_, step)| **step < 3).for_each(|(row, _)| row.fill(f32::NAN));
    });
    is_innocent(&late);
}

#[test]
fn responses_without_a_group_are_no_siblings() {
    let half = |log: &mut Log| {
        log.groups.iter_mut().filter(|group| **group % 2 == 1).for_each(|group| *group = NO_GROUP);
        // They all say the same, to different prompts.
        let ids = log.ids.iter_mut().zip(&log.groups).filter(|(_, group)| **group == NO_GROUP);
        ids.for_each(|(ids, _)| ids.fill(7));
    };
    let half = changed(Fault::Nothing, SHAPE, half);
    is_innocent(&half);
    assert_eq!(half.totals.groups, Some((SHAPE.steps * SHAPE.groups / 2) as u64));
}

/// Versions that count from 1, or updates: the old weights are behind the youngest all the same.
#[test]
fn versions_need_not_be_steps() {
    let from_one = |version: i64| version + 1;
    let updates = |version: i64| 4 * version + 40;
    for count in [from_one, updates] {
        let stale = |log: &mut Log| log.versions.iter_mut().for_each(|version| *version = count(*version));
        let stale = changed(Fault::Stale, SHAPE, stale);
        assert!(among_first_two(&stale, CauseCode::StaleSampler), "{}", told(&stale));
        assert!(stale.diagnosis.causes.iter().all(|c| !c.message.contains("the same weights")));
    }
    let imprecise = changed(Fault::Imprecise, SHAPE, |log| {
        log.versions.iter_mut().for_each(|version| *version = updates(*version));
    });
    let gap = imprecise.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::PrecisionGap).unwrap();
    assert_eq!(gap.confidence, Confidence::Possible);
    assert!(gap.message.contains("not known"), "{}", gap.message);
}

/// A few tokens of every age are tokens all the same.
#[test]
fn many_ages_are_looked_at_together() {
    let spread = |log: &mut Log| {
        let rows = log.versions.iter_mut().enumerate();
        rows.for_each(|(row, version)| *version -= (row % 97) as i64);
    };
    let found = changed(Fault::Imprecise, SHAPE, spread);
    assert!(has(&found, CauseCode::PrecisionGap), "{}", told(&found));
    let unchecked = |code: CauseCode| found.diagnosis.not_checked.iter().find(|n| n.code == code);
    assert!(unchecked(CauseCode::SamplerTemperature).is_none());
    let needs = &unchecked(CauseCode::StaleSampler).unwrap().needs;
    assert!(needs.contains("more tokens"), "{needs}");
}

/// What rounding leaves of equal rewards is no advantage, and one that is far out makes no other so.
#[test]
fn dead_groups_are_the_same_wherever_they_are_counted() {
    let dust = |log: &mut Log| {
        log.advantages.iter_mut().filter(|a| **a == 0.0).for_each(|a| *a = 1e-8);
    };
    let far_out = |log: &mut Log| {
        if let Some(first) = log.advantages.iter_mut().find(|a| **a > 0.0) {
            *first = 1e6;
        }
    };
    let exact = changed(Fault::Solved, SHAPE, |_| {});
    let dead = exact.totals.zero_advantage_groups;
    assert!(dead.is_some_and(|dead| dead > 20));
    for change in [dust as fn(&mut Log), far_out] {
        let found = changed(Fault::Solved, SHAPE, change);
        assert_eq!(found.totals.zero_advantage_groups, dead);
        let cause = |analysis: &RunAnalysis| {
            analysis
                .diagnosis
                .causes
                .iter()
                .find(|c| c.code == CauseCode::DeadGroups)
                .map(|c| c.message.clone())
        };
        assert_eq!(cause(&found), cause(&exact));
    }
    let taught = changed(Fault::Nothing, Shape { kind: Kind::OneTurn, ..SHAPE }, far_out);
    assert!(!has(&taught, CauseCode::AdvantageContradictsReward), "{}", told(&taught));
}
