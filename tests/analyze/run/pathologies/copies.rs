//! Responses that stand in a log over and over: siblings that are one response, and those of an earlier step.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{CauseCode, RunState, Warning, WarningCode};

use super::log::{Log, NO_GROUP};
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, analysis_of, told};

const LONG: Shape = Shape { steps: 12, length: 40, ..SHAPE };

/// Writes response `from` over response `to`, which keeps its ids.
fn copy(log: &mut Log, from: usize, to: usize) {
    log.rewards[to] = log.rewards[from];
    log.advantages[to] = log.advantages[from];
    log.ids[to] = log.ids[from].clone();
    for column in log.values.iter_mut().chain([&mut log.references, &mut log.token_advantages]) {
        if let Some(copied) = column.get(from).cloned() {
            column[to] = copied;
        }
    }
    for column in [&mut log.turns, &mut log.masks] {
        if let Some(copied) = column.get(from).cloned() {
            column[to] = copied;
        }
    }
    log.parts.iter_mut().for_each(|(_, values)| values[to] = values[from]);
}

fn warning(found: &RunAnalysis, code: WarningCode) -> Option<&Warning> {
    found.warnings.iter().find(|warning| warning.code == code)
}

/// Every response becomes the first of its group.
#[test]
fn groups_of_copies_are_not_called_solved() {
    let shape = Shape { steps: 8, ..SHAPE };
    let mut log = Maker::run(Fault::Nothing, shape, 5);
    let mut first = 0;
    for i in 0..log.steps.len() {
        if (log.steps[i], log.groups[i]) != (log.steps[first], log.groups[first]) {
            first = i;
        }
        copy(&mut log, first, i);
        log.advantages[i] = 0.0;
    }
    let found = analysis_of(&log, shape);
    let cause = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::DeadGroups);
    let said = cause.map(|cause| cause.message.as_str()).unwrap_or_default();
    assert!(said.contains("the same, token by token"), "{}", told(&found));
}

/// From step 6 on every step has the responses of step 5 again.
#[test]
fn a_run_that_logs_old_responses_again_is_not_healthy() {
    let mut log = Maker::run(Fault::Nothing, LONG, 5);
    let healthy = analysis_of(&log, LONG);
    assert_eq!(healthy.diagnosis.state, RunState::Healthy, "{}", told(&healthy));
    assert_eq!(warning(&healthy, WarningCode::RepeatedResponses), None);
    let of_step = LONG.groups * LONG.group;
    for row in 6 * of_step..log.steps.len() {
        copy(&mut log, 5 * of_step + row % of_step, row);
    }
    let found = analysis_of(&log, LONG);
    assert_eq!(found.diagnosis.state, RunState::Unknown, "{}", told(&found));
    let warning = warning(&found, WarningCode::RepeatedResponses).unwrap();
    assert_eq!(warning.evidence[0].step, Some(6));
    assert!(warning.evidence[1].value > 0.45 * (of_step * LONG.steps) as f64, "{}", warning.message);
    let health = &found.verdict.health;
    assert!(health.starts_with("No damage in what could be checked over 12 steps"), "{health}");
    assert!(health.contains("of the responses (or more) are those of an earlier step again"), "{health}");
}

/// Every second sibling is the one before it. Where a step has two epochs and both have one id, that is the same
/// response again.
#[test]
fn siblings_that_are_copies_are_told() {
    for (kind, epochs) in [(Kind::Plain, false), (Kind::TwoEpochs, false), (Kind::TwoEpochs, true)] {
        let shape = Shape { kind, ..LONG };
        let mut log = Maker::run(Fault::Nothing, shape, 5);
        assert_eq!(warning(&analysis_of(&log, shape), WarningCode::CopiedSiblings), None);
        for row in (1..log.steps.len()).step_by(2) {
            copy(&mut log, row - 1, row);
            if epochs {
                log.samples[row] = log.samples[row - 1];
                (log.updates[row - 1], log.updates[row]) = (0, 1);
            }
        }
        let found = analysis_of(&log, shape);
        let warning = warning(&found, WarningCode::CopiedSiblings);
        assert_eq!(warning.is_some(), !epochs, "{kind:?}");
        assert!(warning.is_none_or(|w| w.evidence[1].value > 0.45), "{warning:?}");
    }
}

/// A log without ids of groups, as TRL writes it, in which some responses are exact copies: what is not logged is no
/// group, and every response is not a group of its own either.
#[test]
fn copies_make_no_groups() {
    let shape = Shape { kind: Kind::NoParts, ..SHAPE };
    let mut log = Maker::run(Fault::Nothing, shape, 5);
    for first in (0..log.steps.len()).step_by(3 * shape.group) {
        copy(&mut log, first, first + 1);
    }
    for without_groups in [|log: &mut Log| log.groups.clear(), |log: &mut Log| log.groups.fill(NO_GROUP)] {
        let mut log = log.clone();
        without_groups(&mut log);
        log.samples.clear();
        let found = analysis_of(&log, shape);
        assert_eq!(found.diagnosis.state, RunState::Healthy, "{}", told(&found));
        assert!(alarms(&found).is_empty(), "{}", told(&found));
        for code in [CauseCode::DeadGroups, CauseCode::PhantomAdvantage, CauseCode::UninformativeReward] {
            let open = found.diagnosis.not_checked.iter().find(|open| open.code == code);
            assert!(open.is_some_and(|open| open.needs.contains("group_id")), "{code:?}: {}", told(&found));
        }
        log.rewards.clear();
        let found = analysis_of(&log, shape);
        assert!(alarms(&found).is_empty(), "without rewards: {}", told(&found));
    }
}
