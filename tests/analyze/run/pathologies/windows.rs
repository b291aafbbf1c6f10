//! Faults that began in the middle of a run and were mended, and what begins at one step.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence};

use super::innocent::has;
use super::log::Log;
use super::maker::Maker;
use super::run::{Fault, Shape};
use super::{SHAPE, analysis_of, told};

const LONG: Shape = Shape { steps: 24, ..SHAPE };

fn the(analysis: &RunAnalysis, code: CauseCode) -> &Cause {
    let found = analysis.diagnosis.causes.iter().take(2).find(|cause| cause.code == code);
    found.unwrap_or_else(|| panic!("{} is not among the first two: {}", code.name(), told(analysis)))
}

fn rows_of(log: &Log, steps: std::ops::Range<i64>) -> Vec<usize> {
    (0..log.steps.len()).filter(|row| steps.contains(&log.steps[*row])).collect()
}

/// The steps before and after are healthy: they neither hide the fault nor are blamed.
#[test]
fn what_was_mended_in_the_middle_is_dated_at_both_ends() {
    let healthy = Maker::run(Fault::Nothing, LONG, 5);
    for (fault, code) in [
        (Fault::Temperature(0.6), CauseCode::SamplerTemperature),
        (Fault::Imprecise, CauseCode::PrecisionGap),
        (Fault::Flipped(0.5), CauseCode::AdvantageContradictsReward),
        (Fault::PositiveOnly, CauseCode::NoNegativeSignal),
    ] {
        let faulty = Maker::run(fault, LONG, 6);
        let found = analysis_of(&healthy.clone().then(faulty, 8).then(healthy.clone(), 14), LONG);
        let cause = the(&found, code);
        assert_eq!(cause.confidence, Confidence::Likely, "{fault:?}: {}", told(&found));
        assert_eq!((cause.from_step, cause.before_step), (Some(8), Some(14)), "{fault:?}: {}", told(&found));
        assert!(cause.message.contains("in steps 8 to 13"), "{fault:?}: {}", cause.message);
    }
}

/// All rewards are 0 for some steps, and then as before; or to the end, by responses that did not change.
#[test]
fn a_grader_that_is_out_is_named() {
    for (steps, confidence) in [(8..14, Confidence::Likely), (18..24, Confidence::Possible)] {
        let mut log = Maker::run(Fault::Nothing, LONG, 5);
        for row in rows_of(&log, steps.clone()) {
            log.rewards[row] = 0.0;
            log.advantages[row] = 0.0;
            log.parts.iter_mut().for_each(|(_, values)| values[row] = 0.0);
        }
        let found = analysis_of(&log, LONG);
        let cause = the(&found, CauseCode::UninformativeReward);
        assert_eq!((cause.from_step, cause.confidence), (Some(steps.start), confidence), "{}", told(&found));
        assert_eq!(cause.before_step, (steps.end < 24).then_some(steps.end), "{cause:?}");
        assert!(cause.message.contains("every reward is 0"), "{}", cause.message);
    }
    let healthy = analysis_of(&Maker::run(Fault::Nothing, LONG, 5), LONG);
    assert!(!has(&healthy, CauseCode::UninformativeReward), "{}", told(&healthy));
}

/// Old weights for some steps: the gap by age says so, and where they are.
#[test]
fn old_weights_that_were_mended_are_dated_at_both_ends() {
    let healthy = Maker::run(Fault::Nothing, LONG, 5);
    let stale = Maker::run(Fault::Stale, LONG, 6);
    let found = analysis_of(&healthy.clone().then(stale.clone(), 8).then(healthy, 14), LONG);
    let cause = the(&found, CauseCode::StaleSampler);
    assert_eq!((cause.from_step, cause.before_step), (Some(8), Some(14)), "{}", told(&found));
    assert!(cause.message.ends_with("weights are old in steps 8 to 13 alone"), "{}", cause.message);
    let to_the_end = analysis_of(&stale, LONG);
    assert_eq!(the(&to_the_end, CauseCode::StaleSampler).before_step, None, "{}", told(&to_the_end));
}

/// Cuts the responses of some steps at a length; the rows of those that were longer.
fn lower_budget(log: &mut Log, steps: std::ops::Range<i64>, budget: usize) -> Vec<usize> {
    let rows = rows_of(log, steps);
    for row in &rows {
        let is_cut = log.ids[*row].len() > budget;
        if is_cut {
            let lists = [&mut log.ids, &mut log.turns, &mut log.masks];
            lists.into_iter().filter_map(|rows| rows.get_mut(*row)).for_each(|list| list.truncate(budget));
            log.references.get_mut(*row).into_iter().for_each(|list| list.truncate(budget));
            let values = log.values.iter_mut().filter_map(|rows| rows.get_mut(*row));
            values.for_each(|list| list.truncate(budget));
        }
        log.truncated[*row] = is_cut;
    }
    rows.into_iter().filter(|row| log.truncated[*row]).collect()
}

/// From a step on, responses are cut at half of their length, and what is cut is not paid.
#[test]
fn a_budget_that_was_lowered_is_named_and_no_hacking() {
    let mut log = Maker::run(Fault::Nothing, LONG, 5);
    let budget = LONG.length / 2;
    for row in lower_budget(&mut log, 12..24, budget) {
        (log.rewards[row], log.advantages[row]) = (0.0, 0.0);
    }
    let found = analysis_of(&log, LONG);
    let cause = the(&found, CauseCode::Truncation);
    assert_eq!((cause.from_step, cause.confidence), (Some(12), Confidence::Likely), "{}", told(&found));
    assert!(
        cause.message.contains(&format!("no response is longer than {budget} tokens")),
        "{}",
        cause.message
    );
    assert!(!has(&found, CauseCode::RewardHacking), "{}", told(&found));
}

/// The budget of a turn: what is cut there goes on with the next one, which is short.
#[test]
fn a_budget_of_a_turn_that_was_lowered_is_named() {
    let mut log = Maker::run(Fault::Nothing, LONG, 5);
    let budget = LONG.length / 2;
    for row in 0..log.ids.len() {
        let (n, late) = (log.ids[row].len(), log.steps[row] >= 12);
        let first = 2 * n / 3;
        log.turns[row] = (0..n).map(|t| i32::from(t >= first)).collect();
        log.truncated[row] = late && first > budget;
        if log.truncated[row] {
            log.ids[row].drain(budget..first);
            log.turns[row].drain(budget..first);
            let others = [&mut log.masks].into_iter().filter_map(|rows| rows.get_mut(row));
            others.for_each(|list| drop(list.drain(budget..first)));
            let values = log.values.iter_mut().chain([&mut log.references]);
            values.filter_map(|rows| rows.get_mut(row)).for_each(|list| drop(list.drain(budget..first)));
        }
    }
    let found = analysis_of(&log, LONG);
    let cause = the(&found, CauseCode::Truncation);
    assert_eq!(cause.from_step, Some(12), "{}", told(&found));
    assert!(cause.message.contains(&format!("no turn is longer than {budget} tokens")), "{}", cause.message);
    assert!(!has(&found, CauseCode::RewardHacking), "{}", told(&found));
}

/// The same, and cut responses lose a part of the reward while the reward rises for another reason.
#[test]
fn a_part_that_cut_responses_lose_was_not_given_up() {
    for (only_cut, is_hacking) in [(true, false), (false, true)] {
        let mut log = Maker::run(Fault::Nothing, LONG, 5);
        let mut format = vec![1.0; log.rewards.len()];
        for row in rows_of(&log, 12..24) {
            log.rewards[row] += 2.0;
        }
        // A third of them ends there.
        for row in lower_budget(&mut log, 12..24, LONG.length / 2).into_iter().step_by(3) {
            log.truncated[row] = false;
        }
        for row in rows_of(&log, 12..24).into_iter().filter(|row| !only_cut || log.truncated[*row]) {
            format[row] = 0.0;
        }
        log.parts.retain(|(name, _)| *name == "reward/answer");
        log.parts.push(("reward/format", format));
        let found = analysis_of(&log, LONG);
        assert!(
            found.diagnosis.damage.iter().any(|damage| damage.signal == "reward/format"),
            "{}",
            told(&found)
        );
        assert_eq!(has(&found, CauseCode::RewardHacking), is_hacking, "{only_cut}: {}", told(&found));
    }
}

/// From a step on, nearly all responses are cut: where prompts are longer from there on, they are what needs more.
#[test]
fn longer_prompts_whose_responses_are_cut_are_named() {
    let cut = |longer: usize| {
        let mut log = Maker::run(Fault::Nothing, LONG, 5);
        log.prompts = log.groups.iter().map(|group| vec![7; 12 + (group % 5) as usize]).collect();
        for row in rows_of(&log, 6..24) {
            log.rewards[row] += 2.0;
        }
        for row in rows_of(&log, 12..24) {
            log.prompts[row].extend(vec![7; longer]);
            log.truncated[row] = row % 20 > 0;
        }
        analysis_of(&log, LONG)
    };
    let found = cut(6);
    let cause = the(&found, CauseCode::Truncation);
    assert_eq!((cause.from_step, cause.confidence), (Some(12), Confidence::Likely), "{}", told(&found));
    assert!(
        cause.message.contains("prompts are longer (20 tokens in the median, 14 before)"),
        "{}",
        cause.message
    );
    assert!(!has(&found, CauseCode::RewardHacking), "{}", told(&found));
    let found = cut(0);
    assert!(!has(&found, CauseCode::Truncation) && has(&found, CauseCode::RewardHacking), "{}", told(&found));
}

/// Cut responses that are left out of the loss, as some trainers do: what to do is not what is done.
#[test]
fn cut_responses_without_a_gradient_are_told_so() {
    let mut log = Maker::run(Fault::Nothing, LONG, 5);
    for row in 0..log.truncated.len() {
        log.truncated[row] = row % 4 > 0;
        if log.truncated[row] {
            log.advantages[row] = 0.0;
        }
    }
    let found = analysis_of(&log, LONG);
    let cause = the(&found, CauseCode::Truncation);
    assert!(cause.message.ends_with("none of them has a gradient"), "{}", cause.message);
    assert!(!cause.hint.contains("leave cut responses out"), "{}", cause.hint);
}
