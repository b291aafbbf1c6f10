//! Single rewards that are far beyond all others.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{RunState, WarningCode};

use super::paid::{part, regraded, way};
use super::run::{Kind, Shape};
use super::{SHAPE, alarms, told};

/// Rewards are the answers but for one that is `odd`; from the middle on, `left` of the answers stay right.
fn with_one(odd: f32, left: f64) -> RunAnalysis {
    regraded(Shape { kind: Kind::Flat, steps: 24, ..SHAPE }, |log, random| {
        let mut answers = part(log, "reward/answer").to_vec();
        let late = answers.iter_mut().enumerate().filter(|(row, _)| way(log, *row) > 0.5);
        late.for_each(|(_, answer)| *answer *= f32::from(u8::from(random.unit() < left)));
        log.rewards.clone_from(&answers);
        let place = log.steps.iter().position(|step| *step == 7).unwrap() + 3;
        log.rewards[place] = odd;
        log.parts = vec![("reward/answer", answers)];
    })
}

fn is_warned(found: &RunAnalysis) -> Option<&str> {
    let warning = found.warnings.iter().find(|warning| warning.code == WarningCode::FarRewards);
    warning.map(|warning| warning.message.as_str())
}

#[test]
fn one_far_reward_is_named_and_makes_no_cause() {
    for odd in [1000.0, -1000.0, 1e30] {
        let found = with_one(odd, 1.0);
        assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
        assert_eq!(found.diagnosis.state, RunState::Healthy, "{}", told(&found));
        let said = is_warned(&found).unwrap_or_default();
        assert!(
            said.starts_with("1 value of reward far beyond all others") && said.contains("at step 7, group"),
            "{said}"
        );
        // What is reported of the step is what was logged.
        let mean = found.steps[7].mean_reward.unwrap();
        assert!(mean.abs() > 5.0, "{mean}");
    }
    assert_eq!(is_warned(&with_one(1.0, 1.0)), None);
}

#[test]
fn one_far_reward_does_not_hide_a_loss() {
    for odd in [1.0, 50.0, 1000.0] {
        let found = with_one(odd, 0.3);
        assert!(found.diagnosis.damage.iter().any(|d| d.signal == "reward"), "{odd}: {}", told(&found));
    }
}

/// From the middle on, some responses get an error code, or a penalty of the size of the rewards.
#[test]
fn a_code_that_some_responses_get_is_named_and_a_penalty_is_not() {
    let with = |code: f32, share: f64| {
        regraded(Shape { kind: Kind::Flat, steps: 24, ..SHAPE }, |log, random| {
            let late = (0..log.rewards.len()).filter(|row| way(log, *row) > 0.5);
            let hit: Vec<usize> = late.filter(|_| random.unit() < share).collect();
            hit.into_iter().for_each(|row| log.rewards[row] = code);
        })
    };
    for share in [0.04, 0.2] {
        let found = with(-20.0, share);
        let said = is_warned(&found).unwrap_or_else(|| panic!("{share}: {}", told(&found)));
        assert!(said.contains(" %) of reward far beyond all others") && said.contains("-20.0"), "{said}");
    }
    assert_eq!(is_warned(&with(-1.0, 0.2)), None);
}
