//! Graders that fail: every answer gets the same reward, whatever a part that is logged apart says of it; and rewards
//! that pay for something beside right answers, as they are meant to.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{CauseCode, Confidence, RunState, WarningCode};

use super::paid::{part, regraded, way};
use super::run::{Kind, Shape};
use super::{SHAPE, alarms, told};

const LEARNS: Shape = Shape { kind: Kind::LearnsFast, steps: 24, groups: 8, ..SHAPE };

/// A run whose reward is made of the answer and of the way through the run; answers are the only part.
fn graded(shape: Shape, reward: fn(f32, f64) -> f32) -> RunAnalysis {
    regraded(shape, |log, _| {
        log.parts.retain(|(name, _)| *name == "reward/answer");
        let answers = part(log, "reward/answer").iter().enumerate();
        log.rewards = answers.map(|(row, answer)| reward(*answer, way(log, row))).collect();
    })
}

fn message(analysis: &RunAnalysis, code: CauseCode) -> &str {
    let cause = analysis.diagnosis.causes.iter().find(|cause| cause.code == code);
    cause.map_or("", |cause| &cause.message)
}

/// From step 12 of 24 on the parser fails: answers go on getting better, and none is paid.
#[test]
fn a_grader_that_fails_is_never_healthy() {
    let found = graded(LEARNS, |answer, way| if way < 0.5 { answer } else { 0.0 });
    assert_eq!(found.diagnosis.state, RunState::Damaged, "{}", told(&found));
    assert_eq!(alarms(&found), ["uninformative_reward"], "{}", told(&found));
    let cause = &found.diagnosis.causes[0];
    assert_eq!((cause.confidence, cause.from_step), (Confidence::Likely, Some(12)), "{cause:?}");
    let said = "from step 12 on, right answers (answer) earn no more than wrong ones in ";
    assert!(cause.message.starts_with(said), "{}", cause.message);
    assert!(cause.message.ends_with("groups that have both: every reward is 0.00"), "{}", cause.message);
    assert!(cause.hint.contains("grader"), "{}", cause.hint);
    assert!(!found.verdict.health.contains("no damage"), "{}", found.verdict.health);
    // Half of the answers and more are right, and nobody says otherwise.
    let dead = message(&found, CauseCode::DeadGroups);
    assert!(!dead.contains("every answer is wrong") && dead.contains(", although "), "{dead}");
    let batches = found.warnings.iter().find(|warning| warning.code == WarningCode::DeadBatches).unwrap();
    assert!(batches.message.contains("of these answers are right (answer)"), "{}", batches.message);
    assert!(!batches.hint.contains("easier prompts"), "{}", batches.hint);
}

/// One that passes everything does not make prompts solved, and one that never worked is no run without a cause.
#[test]
fn a_grader_that_gives_one_reward_to_all_is_named_whatever_that_is() {
    let shape = Shape { kind: Kind::Flat, ..LEARNS };
    let passes_all = graded(shape, |answer, way| if way < 0.5 { answer } else { 1.0 });
    assert_eq!(alarms(&passes_all), ["uninformative_reward"], "{}", told(&passes_all));
    let dead = message(&passes_all, CauseCode::DeadGroups);
    assert!(
        dead.contains("best reward throughout, although ") && dead.contains("are wrong (answer)"),
        "{dead}"
    );
    let never = graded(shape, |_, _| -1.0);
    assert_eq!(never.diagnosis.state, RunState::Suspicious, "{}", told(&never));
    let said = message(&never, CauseCode::UninformativeReward);
    assert!(
        said.starts_with("right answers (answer) earn") && said.ends_with("every reward is -1.00"),
        "{said}"
    );
}

/// Up to step 10 the parser failed, and nothing was learned. Of every third step alone one could have learned it in
/// between, and where anything was paid before, from that.
#[test]
fn a_grader_that_was_mended_is_told_where_nothing_could_be_learned() {
    let shape = Shape { kind: Kind::Flat, ..LEARNS };
    let mended = |every: i64, paid: usize| {
        regraded(shape, move |log, _| {
            log.parts.retain(|(name, _)| *name == "reward/answer");
            let rewards = part(log, "reward/answer").iter().zip(&log.steps).enumerate();
            let early = |row: usize, answer: f32| if row % 64 < paid { answer } else { 0.0 };
            log.rewards =
                rewards.map(|(row, (a, step))| if *step < 10 { early(row, *a) } else { *a }).collect();
            log.steps.iter_mut().for_each(|step| *step *= every);
        })
    };
    let found = mended(1, 0);
    assert_eq!(alarms(&found), ["uninformative_reward"], "{}", told(&found));
    let cause = &found.diagnosis.causes[0];
    assert_eq!((cause.from_step, cause.before_step), (Some(0), Some(10)), "{cause:?}");
    assert!(cause.message.starts_with("before step 10, right answers (answer) earn no more"), "{cause:?}");
    assert!(cause.hint.starts_with("nothing was learned up to there"), "{}", cause.hint);
    for (every, paid) in [(3, 0), (1, 4)] {
        let waits = mended(every, paid);
        assert_eq!(message(&waits, CauseCode::UninformativeReward), "", "{every} {paid}: {}", told(&waits));
    }
}

/// A format without which nothing is paid, had by one response in ten and then by most: healthy from the start on.
#[test]
fn a_reward_that_waits_for_a_format_is_no_failed_grader() {
    let found = regraded(LEARNS, |log, random| {
        let formats: Vec<f32> = (0..log.rewards.len())
            .map(|row| f32::from(u8::from(random.unit() < 0.1 + 0.8 * way(log, row))))
            .collect();
        log.rewards = part(log, "reward/answer").iter().zip(&formats).map(|(a, f)| a * f).collect();
        log.parts
            .iter_mut()
            .filter(|(name, _)| *name == "reward/format")
            .for_each(|(_, of)| of.clone_from(&formats));
    });
    assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
}

/// Partial credit on hard prompts: most groups that teach have no right answer at first, and learn from it.
#[test]
fn partial_credit_is_no_phantom() {
    let shape = Shape { kind: Kind::Hard, steps: 6, groups: 32, ..SHAPE };
    let found = regraded(shape, |log, random| {
        // One right answer in thirty.
        let answers = log.parts.iter_mut().filter(|(name, _)| *name == "reward/answer");
        answers.flat_map(|(_, of)| of).for_each(|answer| *answer *= f32::from(u8::from(random.unit() < 0.4)));
        let mut partial = |answer: f32| 0.5 * answer + 0.5 * (4.0 * random.unit()).floor() as f32 / 4.0;
        let parts: Vec<f32> = part(log, "reward/answer").iter().map(|answer| partial(*answer)).collect();
        log.rewards = part(log, "reward/answer").iter().zip(&parts).map(|(a, p)| 0.5 * (a + p)).collect();
        log.parts.retain(|(name, _)| *name == "reward/answer");
        log.parts.push(("reward/partial", parts));
    });
    assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
    assert!(!message(&found, CauseCode::PhantomAdvantage).is_empty(), "possible: {}", told(&found));
}

/// Right answers are paid for brevity, wrong ones for length: what cosine rewards mean to do.
#[test]
fn a_long_try_that_is_punished_less_is_no_hacking() {
    let shape = Shape { kind: Kind::Hard, ..SHAPE };
    let found = regraded(shape, |log, _| {
        let shaped = |(answer, ids): (&f32, &Vec<i32>)| {
            let relative = ids.len() as f32 / shape.length as f32;
            if *answer > 0.0 { 2.0 - 0.3 * relative } else { 0.3 * relative }
        };
        log.rewards = part(log, "reward/answer").iter().zip(&log.ids).map(shaped).collect();
        log.parts.retain(|(name, _)| *name == "reward/answer");
    });
    assert!(!alarms(&found).contains(&"reward_hacking"), "{}", told(&found));
    let said = message(&found, CauseCode::RewardHacking);
    assert!(said.contains("answers are all wrong (answer)"), "{said}");
}

/// Paid for right answers, then for wrong ones: over the run both cancel, and it is still not chance.
#[test]
fn a_reward_that_is_turned_round_is_not_chance() {
    let found = graded(LEARNS, |answer, way| if way < 0.42 { answer } else { 1.0 - answer });
    assert_eq!(alarms(&found)[0], "advantage_contradicts_reward", "{}", told(&found));
    assert!(!message(&found, CauseCode::UninformativeReward).contains("chance"), "{}", told(&found));
}

/// From step 12 of 24 on the grader misses most right answers, or passes most of the wrong ones.
#[test]
fn a_grader_that_errs_from_a_step_on_is_named() {
    for (misses, passes) in [(0.8, 0.0), (0.95, 0.0), (0.0, 0.8)] {
        let found = regraded(Shape { groups: 16, ..LEARNS }, |log, random| {
            log.parts.retain(|(name, _)| *name == "reward/answer");
            let answers = part(log, "reward/answer").to_vec();
            let mut graded = |(row, answer): (usize, &f32)| match (way(log, row) > 0.5, *answer > 0.0) {
                (false, _) => *answer,
                (true, true) => f32::from(u8::from(random.unit() >= misses)),
                (true, false) => f32::from(u8::from(random.unit() < passes)),
            };
            log.rewards = answers.iter().enumerate().map(&mut graded).collect();
        });
        assert_eq!(alarms(&found), ["uninformative_reward"], "{misses} {passes}: {}", told(&found));
        assert_eq!(found.diagnosis.causes[0].from_step, Some(12), "{}", told(&found));
        let said = message(&found, CauseCode::UninformativeReward);
        assert!(said.ends_with("the grader errs"), "{said}");
        assert!(!found.verdict.health.contains("no damage"), "{}", found.verdict.health);
        assert_eq!(found.diagnosis.state == RunState::Damaged, misses > 0.0, "{}", told(&found));
    }
}

/// Less for every right answer from step 12 on, and less for long ones: what is logged still says the reward.
#[test]
fn a_reward_that_follows_from_responses_is_no_grader_that_errs() {
    for weight in [0.0, 0.5] {
        let found = regraded(LEARNS, |log, _| {
            log.parts.retain(|(name, _)| *name == "reward/answer");
            let rows = part(log, "reward/answer").iter().zip(&log.ids).enumerate();
            let less =
                |answer: f32, ids: &[i32]| 0.5 * answer - weight * ids.len() as f32 / LEARNS.length as f32;
            log.rewards =
                rows.map(|(row, (a, ids))| if way(log, row) > 0.5 { less(*a, ids) } else { *a }).collect();
        });
        assert_eq!(message(&found, CauseCode::UninformativeReward), "", "{weight}: {}", told(&found));
    }
}
